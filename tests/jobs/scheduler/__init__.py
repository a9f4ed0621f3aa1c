"""Tests of the scheduler, with real child processes."""
