"""The service's record of its own work: jobs and schedulers, imports and their rejects, pulls, forms that
were seen, requests to forget, and the conditions that need a person (START HERE: `conditions.py`).

Leases of editions are in `warehouse/editions/leases.py`.
"""
