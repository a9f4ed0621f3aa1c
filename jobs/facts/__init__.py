"""Facts: form sessions and orders, derived from the raw rows that were imported.

A group of import batches is applied in three acts:

- read: `read_raw.py` reads the raw rows, `partials.py` folds them into what they say by themselves;
- gather: `gather.py` reads every stored row that the group may change or depends on;
- derive: `derive_changes.py` (START HERE) computes the new version of the facts from the two.
  It calls one pure module per subject: sessions, orders, customers, first_sessions, attribution,
  credited_revenue, discounts.

`fact_writer.py` writes the changes, and `rollup_units.py` cuts them into the facts that rollups sum.
Only those that `tests/test_layers.py` names as `READERS` hold a connection. The sums themselves
belong to `jobs/rollups`, transactions and leases to `jobs/pipeline`.
"""
