"""The endpoints: one module per resource, and the types of their bodies in `schemas/`.

START HERE: `endpoint.py` declares an endpoint, `query.py` is all that it may read, `figures.py` has the
formula of every figure. An answer is worked out from daily rows (`warehouse/daily`); nothing here reads facts
or raw rows. Flask stays in `endpoint.py`. HTTP itself (keys, limits, caching, formats) is in `web/http`.
"""
