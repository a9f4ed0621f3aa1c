"""Tests of the endpoints: parameters, rows, errors, CSV."""
