"""Tests of what differs between the databases, and of outages."""
