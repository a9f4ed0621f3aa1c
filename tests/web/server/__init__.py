"""Tests of the server as processes: workers, slow clients, signals."""
