"""Rollups: pure functions from facts to daily rows, one module for each summary of the catalogue.

A rollup is linear in its units (`Summary.unit`): what two sets of units give adds up to what both
give together. So what changed facts change in the stored rows is the `difference` of what the new
and the old version of the units give, each unit that changed being whole in both.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

from jobs.columns import columns as columns_of
from jobs.facts.frames import Facts
from jobs.rollups.summing import part, sums
from warehouse.catalogue import SUMMARIES, SUMMARY

# All but `activity`, the one summary of raw events.
ROLLUPS: Final[dict[str, Callable[[Facts], pd.DataFrame]]] = {
    summary.name: import_module(f"{__name__}.{summary.name}").rollup
    for summary in SUMMARIES
    if summary.unit != "events"
}


def difference(name: str, new: pd.DataFrame, old: pd.DataFrame) -> pa.Table:
    """What must be added to the rows of `old` to make those of `new`; rows of zeros left out.

    Both as the rollup of that name gives them: each combination once.
    """
    measures = SUMMARY[name].measures
    columns = columns_of(new, list(new))
    if not old.empty:
        before = columns_of(old, list(old))
        added = part(columns, **{measure: measure for measure in measures})
        removed = part(before, **{measure: -before[measure] for measure in measures})
        columns = sums(name, added, removed)
    changed = np.logical_or.reduce([columns[measure] != 0 for measure in measures])
    return pa.table({column: values[changed] for column, values in columns.items()})
