"""The way of every request to its endpoint: parsing, keys, limits, caching, errors, the log.

Nothing here knows a figure. START HERE: `state.py`; the order is in `web/app.py`.
"""
