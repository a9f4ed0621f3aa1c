"""A made-up shop: believable input files of all seven kinds, up to the present minute.

Start with `files.py`, which writes them. `cast.py` holds the shop, its forms and its campaigns; `story.py`
makes the events and orders of each day, from `people.py` (visitors), `visits.py` (what they do on a form) and
`purchases.py` (what they buy); `spending.py` makes what the ads cost.

Everything random depends on the day alone, so a later run makes the same days again and adds new ones.
Nothing here knows the warehouse.
"""
