"""Tests of `python -m web`."""
