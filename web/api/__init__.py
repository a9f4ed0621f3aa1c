"""What all endpoints share, and the endpoints of forms. The reports are in `web/reports/`.

START HERE: `rows.py` declares a row and fills it, `endpoint.py` declares an endpoint, `query.py` is all that
a report may read. An answer is worked out from daily rows (`warehouse/daily`); nothing here reads facts or
raw rows. Flask stays in `endpoint.py`. HTTP itself (keys, limits, caching, formats) is in `web/http`.
"""
