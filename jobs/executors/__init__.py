"""Beyond one process: the same rollup by several processes or machines at once.

N workers are N rollups: each does what `worker_loop.py` does on a host of its own, and leases share the
work out (`warehouse/editions/leases.py`). `driver.py` (START HERE) starts a rollup on each worker of an
engine, and tells what the warehouse says of it (`share.py`); `worker.py` is that rollup. The setting
EXECUTOR chooses the engine: `processes.py`, or `dask_cluster.py` with `dask_setup.py`, the only modules
that import `distributed`. A worker loop starts a worker, too, for batches that may end their process.

Nothing here makes figures right. A worker may begin twice, late or never: the driver does what is left,
as a run without an engine does.
"""
