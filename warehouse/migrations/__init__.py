"""How the schema came to be what `warehouse/tables` declares.

`migrate.py` upgrades a warehouse. `make migration NAME=...` (`revise.py`) writes the next revision
under `versions/`; a revision is a record and never imports `warehouse/tables`.
"""
