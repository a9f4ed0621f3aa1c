"""Metrics for Prometheus, on a port of their own (METRICS_PORT).

`requests.py`: what the API does, counted by each worker. `warehouse_gauges.py`: imports and rollups, read
from the warehouse with each scrape. `endpoint.py`: both, served by the server's first process.

A worker imports `requests.py` once PROMETHEUS_MULTIPROC_DIR is set, and nobody else does: the library
reads that variable when it is imported, and every importing process leaves a file there.
"""
