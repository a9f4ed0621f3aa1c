"""The pages of the dashboard, beside the answers of the API."""
