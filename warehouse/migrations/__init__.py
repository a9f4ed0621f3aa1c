"""The steps by which the schema came to be what `warehouse/tables` declares.

`migrate.py` upgrades a warehouse. `make migration NAME=...` (`__main__.py`) writes a revision under
`versions/`. A revision is a record: it never imports `warehouse/tables`, and once it is released it never
changes. The first one is a script for each database.
"""
