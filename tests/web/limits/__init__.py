"""Tests of what requests share: slots, connections, calls within a time."""
