"""Texts that no fact names any more leave the dimensions: codes, answers and campaign parameters of rows
that were removed. No answer changes by it."""

from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa

from jobs.arrays.group_keys import Column, except_ids, sorted_unique
from jobs.facts.read_raw import chosen_ids
from jobs.pipeline import plan
from jobs.run.job_run import JobRun
from jobs.run.phases import phase
from warehouse.connections.arrow import ArrowConnection
from warehouse.editions import leases
from warehouse.editions.leases import Claim

# Every column of facts, other dimensions and daily rows that is an id of a text, but for chosen answers.
_TEXT_IDS: Final = " UNION ".join(
    f"SELECT {column} FROM {table} WHERE edition = $1"
    for table, columns in (
        ("fact_form_session", ("form", "variant")),
        ("dim_step", ("form", "step")),
        ("fact_answer", ("field",)),
        ("code_usage", ("code",)),
        ("dim_discount_code", ("discount",)),
        ("fact_code_issued", ("discount",)),
    )
    for column in columns
)
_UTM_IDS: Final = (
    "SELECT utm FROM fact_form_session WHERE edition = $1 UNION "
    "SELECT order_utm FROM fact_order WHERE edition = $1 UNION "
    "SELECT utm FROM fact_order WHERE edition = $1"
)


def drop_unused_texts(run: JobRun, shop_key: int) -> None:
    """Delete the rows of dim_text and dim_utm that nothing in the editions of a shop names. Commits."""
    phase("texts")
    plan.while_shops_held(run, [shop_key], partial(_drop, run.connection))


def _drop(connection: ArrowConnection, held: Claim, _shops: list[int]) -> None:
    for edition in held.editions:
        number = edition.edition
        chosen = chosen_ids(connection, [number])["id"].to_numpy()
        texts = sorted_unique(_ids(connection, _TEXT_IDS, number), chosen)
        for table, key, used in (
            ("dim_text", "id", texts),
            ("dim_utm", "utm", _ids(connection, _UTM_IDS, number)),
        ):
            stored = _ids(connection, f"SELECT {key} FROM {table} WHERE edition = $1", number)
            unused = except_ids(stored, sorted_unique(used))
            staged = connection.stage("unused_texts", pa.table({key: unused}))
            connection.commit()
            leases.fence(connection, held, [number], connection.now_micros())
            connection.execute(
                f"DELETE FROM {table} WHERE edition = $1 AND {key} IN (SELECT {key} FROM {staged})",
                number,
            )
            connection.commit()


def _ids(connection: ArrowConnection, sql: str, edition: int) -> Column:
    return np.asarray(connection.table(sql, edition).column(0).to_numpy(), np.int64)
