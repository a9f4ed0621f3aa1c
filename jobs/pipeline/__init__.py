"""The pipeline: import batches become facts and daily rows, each batch exactly once.

`plan.py` says which editions must be up to date, `worker_loop.py` applies batches to them until none is
pending, `batching.py` groups the batches, and `apply_batch.py` (START HERE) applies one group in one
transaction. `recompute.py` does days again, for backfill and verify. All of them change figures in one way,
`derive.py`. `removal.py` deletes raw rows for an undo, and for `forgetting.py`: the next edition is built
without them.

How facts are derived belongs to `jobs/facts`, what is summed to `jobs/rollups`; leases, the queue and
failed batches to `warehouse/editions`.
"""
