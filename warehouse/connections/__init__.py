"""Connections to the warehouse: `arrow.py` for jobs, whole columns at a time; `engine.py` for the API
and everything else that goes row by row.

`backends.py` has what differs between SQLite and PostgreSQL; no other package asks which it is.
`errors.py` tells outages from defects.
"""
