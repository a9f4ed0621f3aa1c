"""One run of a command: its record, lease and heartbeat, how it stops, and what it prints.

Start with `job_run.py`; `work.py` is the loop over the tasks that pages ask for. The work that a command does
lies in other rooms (importing, landing, pipeline, scheduler); they use this one to report progress and to
stop between two batches.
"""
