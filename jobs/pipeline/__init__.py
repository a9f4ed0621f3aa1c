"""The pipeline: import batches become facts and daily rows, each batch exactly once.

`plan.py` says which editions must be up to date, `drain.py` applies batches to them until none is
pending, `batching.py` groups the batches, and `apply_batch.py` (START HERE) applies one group in one
transaction. `apart.py` applies those that may end their process in a child. `recompute.py` does days again,
for backfill and verify. `removal.py` takes raw rows back; `forgetting.py` does so for a person. All of them
change figures in one way, `derive.py`.

How facts are derived belongs to `jobs/facts`, what is summed to `jobs/rollups`; leases, the queue and
failed batches to `warehouse/editions`.
"""
