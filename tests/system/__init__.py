"""Tests of everything at once: processes, faults, the browser, the READMEs.

`soak.py` is run by hand, and so is `fuzz.py` with many requests.
"""
