"""How fast it is here: `python -m tests.bench` (or `make bench`).

Real processes on generated files (`data.py`), on both databases. Beside each measurement stand its
ratio to a floor or a peer of the same run and its goal (`goals.py`): the bare reading or writing of the
same rows (`floors.py`), a bare Flask route (`repeated.py`), DuckDB (`duck.py`), SQL over the raw rows
(`raw_sql.py`). A busy or a slow machine moves both; the ratio stays.
"""
