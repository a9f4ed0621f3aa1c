"""The way of every request to its endpoint: parsing, keys, limits, caching, errors, the log,
and what all requests of a process share (`services.py`).

Nothing here knows a figure. START HERE: `current_request.py`; the order is in `web/app.py`.
"""
