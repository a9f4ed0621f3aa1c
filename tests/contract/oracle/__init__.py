"""Tests of the oracle itself, and of the random worlds: small cases with figures worked out by hand."""
