"""Connections to the warehouse: `arrow.py` for jobs, whole columns at a time; `engine.py` for the API
and everything else that goes row by row, `look_ups.py` for the constants that requests read with.

`sqlite.py` and `postgresql.py` have what differs for connections; elsewhere, backups, migrations, settings
and the statements of `web/db/dimensions.py` tell SQLite and PostgreSQL apart.
`errors.py` tells outages from defects.
"""
