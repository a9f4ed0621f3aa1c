"""How fast it is here: `python -m tests.bench` (or `make bench`).

Real processes on generated files (`data.py`), on both databases. Beside each rate stands its ratio to a
floor measured in the same run (`floors.py`): the bare reading or writing of the same rows. A busy or
a slow machine moves both; the ratio stays.
"""
