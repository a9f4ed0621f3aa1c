"""Warehouses of every revision of the schema, taken over by this program.

`NNNN.sqlite.backup` and `NNNN.postgresql.backup` are what `jobs backup` of revision NNNN wrote.
`NNNN.json.gz` says what was imported into them, what comes later, and what to ask. The release of a
revision stores them:

    python -m tests.warehouse.migrations URL...     empty databases, one of each kind
"""
