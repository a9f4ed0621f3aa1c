"""How facts are made: raw rows fold into form sessions and orders, and these into what they mean.

`raw.py` reads what was imported, `fold.py` makes partial sessions of events, `merge.py` folds them
into the stored ones; `orders.py`, `customers.py`, `visitors.py`, `attribution.py` and `discounts.py`
each derive one thing; `working.py` holds the old and the new version of all that a batch touches;
`refresh.py` says in which order, and what re-opens what.
"""
