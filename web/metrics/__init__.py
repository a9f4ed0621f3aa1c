"""Metrics for Prometheus, on a port of their own (METRICS_PORT).

`requests.py`: what the API does, counted by each worker. `endpoint.py`: the port, on which the server's first
process serves these counts, and imports and rollups, read from the warehouse with each scrape.

A worker imports `requests.py` once PROMETHEUS_MULTIPROC_DIR is set, and nobody else does: the library
reads that variable when it is imported, and every importing process leaves a file there.
"""
