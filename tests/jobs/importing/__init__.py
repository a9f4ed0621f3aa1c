"""Tests of imports: what is stored of each kind and format, and why a row is rejected."""
