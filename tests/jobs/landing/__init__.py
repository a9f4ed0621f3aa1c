"""Tests of the landing folder: which files are imported, where they are moved, what a crash leaves."""
