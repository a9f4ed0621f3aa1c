"""Tests mirror the rooms; those that need a warehouse run over SQLite and PostgreSQL (`conftest.py`)."""
