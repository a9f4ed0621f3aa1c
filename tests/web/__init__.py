"""Tests of `web`, in the same rooms. `conftest.py` has a client and a shop to fill."""
