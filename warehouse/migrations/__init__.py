"""How the schema came to be what `warehouse/tables` declares.

`migrate.py` upgrades a warehouse. `make migration NAME=...` (`revise.py`) writes a revision under
`versions/`. A revision is a record: it never imports `warehouse/tables`, and once it is released it never
changes. The first one is a script for each database.
"""
