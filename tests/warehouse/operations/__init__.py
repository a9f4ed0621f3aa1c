"""Tests of the leases by which a job runs once at a time."""
