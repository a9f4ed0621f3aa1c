"""Facts: form sessions and orders, derived from the raw rows that were imported.

A change is derived in three acts (`jobs/pipeline/derive.py` calls them):

- read: `touched.py` stages the sessions and orders that the change touches, `read_raw.py` reads all their raw
  rows, `partials.py` folds these into what they say by themselves, and `kept_facts.py` adds what is kept of
  those that are gone;
- gather: `gather.py` reads every stored row that they may change or depend on;
- derive: `derive_changes.py` (START HERE) computes the new version of the facts from the two.
  It calls one pure module per subject: sessions, orders, customers, first_sessions, attribution,
  credited_revenue, discounts.

`fact_writer.py` writes the changes. `neighbours.py` reads the unchanged facts that rollups need with them,
and `rollup_units.py` cuts both into the facts that rollups sum.
Only those that `tests/test_layers.py` names as `READERS` hold a connection. The sums themselves
belong to `jobs/rollups`, transactions and leases to `jobs/pipeline`.
"""
