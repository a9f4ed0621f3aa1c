"""Tests of what holds for every endpoint: errors, validators, limits, retries, caches."""
