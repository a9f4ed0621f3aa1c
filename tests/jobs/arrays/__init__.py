"""Tests of group keys and joins, against plain Python."""
