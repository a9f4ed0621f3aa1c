"""Tests of how requests read the warehouse: snapshots, outages, writes in the background."""
