"""Beyond one process: the pending batches of many shops, rolled up by several processes or machines.

`driver.py` (START HERE) hands out shares of the work and adds up what became of them; `shares.py` cuts
the work, `task.py` does one share, on a worker. `engines.py` opens what runs tasks, by the setting
EXECUTOR: each is a `concurrent.futures.Executor`. `dask_cluster.py` and `dask_setup.py` are the only
modules that import `distributed`.

Nothing here makes figures right: leases and fences do (`warehouse/editions/leases.py`). An engine may
start a task twice, late or never. The driver drains what is left, as a run without an engine does.
"""
