"""Tests of what pages ask about one shop."""
