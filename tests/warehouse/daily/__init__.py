"""Tests of daily rows: how they are packed, added up, written and read."""
