"""Tests of rollups: facts as literals in, the expected rows out. `test_all.py` holds for each of them."""
