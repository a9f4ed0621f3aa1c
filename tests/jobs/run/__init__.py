"""Tests of one run of a job: its record, lease, heartbeat and signals."""
