"""Facts: form sessions and orders, derived from the raw rows that were imported.

`jobs/pipeline/derive.py` (START HERE) calls what is here:

- read: `touched.py` stages the sessions and orders that a change touches, `read_raw.py` reads all their raw
  rows, `partials.py` folds these into what they say by themselves, and `kept_facts.py` adds what is kept of
  those that are gone;
- derive: a module for each subject, each with what it reads and the pure functions that decide: `sessions.py`
  begins the `changes.py`; then `customers.py`, `credits.py`, `discounts.py`.

`fact_table_io.py` reads facts by keys, and writes the changes. `rollup_units.py` reads the unchanged facts
that rollups need with them, and cuts both into the facts that rollups sum, which `facts.py` describes.
No connection is held by those that `tests/test_layers.py` names as `PURE`. The sums themselves
belong to `jobs/rollups`, transactions and leases to `jobs/pipeline`.
"""
