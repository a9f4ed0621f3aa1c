"""The API and the pages. They read the daily rows that `jobs` has written to the warehouse.

START HERE: `app.py` has the order in which a request passes; `README.md` says how to use the API. Flask
is used here and nowhere else. `web` imports `warehouse`, never `jobs`.
"""
