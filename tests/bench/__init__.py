"""How fast it is here: `python -m tests.bench` (or `make bench`).

Real processes on generated files (`data.py`), on both databases. Beside each measurement stand its
ratio to a floor or a peer of the same run and its goal (`goals.py`): the bare reading or writing of the
same rows (`floors.py`), a bare Flask route (`repeated.py`), DuckDB and ClickHouse (`peers.py`). A slow
machine moves both, and the ratio stays; beside a busy neighbour nothing is judged.
"""
