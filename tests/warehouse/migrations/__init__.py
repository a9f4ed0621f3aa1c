"""Data of every revision of the schema, migrated to the newest.

`NNNN.json.gz` holds a whole warehouse at revision NNNN, the records it was made of, and what to ask it.
`python -m tests.warehouse.migrations` writes that of the newest revision, from a tree that declares no more
than it; `make migration` asks for the file.
"""
