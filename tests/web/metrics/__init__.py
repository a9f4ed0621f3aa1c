"""Tests of the metrics for Prometheus."""
