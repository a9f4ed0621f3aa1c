"""Rollups: pure functions from facts to daily rows, one function for each summary of the catalogue.

A rollup has the name of its summary. It is linear in its units (`Summary.unit`): the rows of two sets of
units add up to the rows of both together. So the stored rows move by the `difference` between the
rows of the new and of the old version of every unit in which something changed.

No module here reads a clock or a database. Reading the facts belongs to `jobs/facts`, storing the
rows to `warehouse/daily/writer.py`.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa

from jobs.arrays.columns import row_count
from jobs.facts.facts import Facts
from jobs.rollups.cross_field import cross_field
from jobs.rollups.discount import discount
from jobs.rollups.funnel import all_forms, device, funnel, outcome
from jobs.rollups.lifetime import ltv_form, ltv_segment
from jobs.rollups.orders import (
    attribution,
    form_orders,
    new_returning,
    utm_order,
    utm_outcome,
    utm_submission,
)
from jobs.rollups.parts import DailyRows, part, total
from jobs.rollups.response import response, response_outcome
from jobs.rollups.step import step
from jobs.rollups.time_to_complete import time_to_complete
from jobs.rollups.visitor import visitor
from warehouse.catalogue import SUMMARY

ROLLUPS: Final[dict[str, Callable[[Facts], DailyRows]]] = {
    function.__name__: function
    for function in (
        funnel,
        all_forms,
        device,
        outcome,
        form_orders,
        step,
        time_to_complete,
        visitor,
        cross_field,
        response,
        response_outcome,
        attribution,
        new_returning,
        utm_submission,
        utm_outcome,
        utm_order,
        discount,
        ltv_form,
        ltv_segment,
    )
}


def difference(name: str, new: DailyRows, old: DailyRows) -> pa.Table:
    """The rows that must be added to those of `old` to make those of `new`; rows of zeros left out."""
    measures, columns = SUMMARY[name].measures, new
    if row_count(old):
        added = part(new, **{measure: measure for measure in measures})
        removed = part(old, **{measure: -old[measure] for measure in measures})
        columns = total(name, added, removed)
    changed = np.logical_or.reduce([columns[measure] != 0 for measure in measures])
    return pa.table({column: values[changed] for column, values in columns.items()})
