"""Data of every revision of the schema, migrated to the newest.

`NNNN.json.gz` holds a whole warehouse at revision NNNN, the records it was made of, and what to ask it.
`python -m tests.migrations` writes that of the newest revision; do so before you make the next one.
"""
