"""Whole shops: one is deleted with all that it has, or exported as one archive."""
