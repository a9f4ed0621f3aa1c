"""What is stored and how it is reached. Start in `catalogue.py`; nothing here imports `jobs` or `web`."""
