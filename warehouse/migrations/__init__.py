"""How the schema came to be what `warehouse/tables` declares.

`migrate.py` upgrades a warehouse. The first schema is a script for each database, which `make schema`
(`first_schema.py`) writes until the release. After it, `make migration NAME=...` (`revise.py`) writes a
revision under `versions/`; a revision is a record and never imports `warehouse/tables`.
"""
