"""Tests of whole shops: deleted, exported."""
