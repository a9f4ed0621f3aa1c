"""The way of every request to its endpoint: parsing, keys, limits, caching, errors, the log.

Nothing here knows a figure. START HERE: `current_request.py`; the order is in `web/app.py`.
"""
