"""Tests of `jobs`, in the same rooms. `conftest.py` runs the commands in the process of the test."""
