"""Tests of times and ids. They need no database."""
