"""The processes that work for the warehouse, as they record themselves, and conditions that need a person.

`job_runs.py`: runs of jobs, which are the leases of scheduled jobs and of tasks; `tasks.py`: what pages ask
of them; `schedulers.py` and `collectors.py`: their heartbeats; `process_id.py`: the owner of a lease. Leases
of editions are in `warehouse/editions/leases.py`. START HERE: `conditions.py`, which lists the conditions.
"""
