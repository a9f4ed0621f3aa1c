"""Members of a shop: accounts and permissions, passwords, sign-ins. Nothing here knows of Flask."""
