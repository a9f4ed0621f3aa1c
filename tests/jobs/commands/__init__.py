"""Tests of the command line itself: help, options, exit statuses. Each command is tested in its own room."""
