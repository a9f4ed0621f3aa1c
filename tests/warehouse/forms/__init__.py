"""Tests of the forms that were seen."""
