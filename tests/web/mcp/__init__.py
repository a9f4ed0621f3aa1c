"""The assistant's door: its answers beside the API's, the protocol, and the official client."""
