"""Rollups: pure functions from facts to daily rows, one module for each summary of the catalogue.

A rollup is linear in its units (its docstring says what a unit is where it is not the single session
or order): what two sets of units give adds up to what both give together. So what changed facts
change in the stored rows is `difference(rollup(new facts), rollup(old facts))`, with every unit that
changed in both, whole.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

from jobs.facts.frames import Facts
from jobs.rollups.summing import part, total
from warehouse.catalogue import SUMMARIES, SUMMARY

# The summary that is made of raw events, by `activity.rollup`; all others are made of facts.
OF_EVENTS: Final = "activity"

ROLLUPS: Final[dict[str, Callable[[Facts], pd.DataFrame]]] = {
    summary.name: import_module(f"{__name__}.{summary.name}").rollup
    for summary in SUMMARIES
    if summary.name != OF_EVENTS
}


def difference(name: str, new: pd.DataFrame, old: pd.DataFrame) -> pa.Table:
    """What must be added to the rows of `old` to make those of `new`; rows of zeros left out."""
    measures = SUMMARY[name].measures
    delta = total(
        name,
        part(new, **{measure: measure for measure in measures}),
        part(old, **{measure: -old[measure].to_numpy() for measure in measures}),
    )
    columns = {column: delta[column].to_numpy() for column in delta}
    changed = np.logical_or.reduce([columns[measure] != 0 for measure in measures])
    return pa.table({column: values[changed] for column, values in columns.items()})
