"""Tests of the pages in a real browser: what they do and how they look."""
