"""The discount that each code belongs to (contract 4, endpoint 16).

It is the greatest discount id that comes with the code on any fact; else `form:<form id>` where exactly
one submission was ever issued the code; else the code itself. `code_usage` counts what decides: every
fact that names the code counts 1 under its discount id, every submission that was issued the code counts
1 under its form. The counts add up like daily rows.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from sqlalchemy import Table

from jobs.arrays.columns import Columns, row_count, take, take_rows
from jobs.arrays.group_keys import (
    Column,
    distinct_rows,
    group_keys,
    index_of,
    index_of_rows,
    sorted_unique,
)
from jobs.facts import fact_table_io
from jobs.facts.changes import Changes, CodeUsage, Versions
from jobs.facts.fact_table_io import key_columns, load_orders, load_sessions
from jobs.facts.read_raw import unique_texts
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.daily import group_sum
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import NEVER
from warehouse.tables.base import column_names

CODE: Final = ["edition", "code"]
_COUNTS: Final = ["mentions", "submissions"]
_USED: Final = [*CODE, "discount_id", "form", *_COUNTS]
_CODES: Final = "staged_codes"
_OF_CODES: Final = "f.edition = k.edition AND f.code = k.code"
# How often the stored facts name each staged code.
_USAGE: Final = f"""
SELECT f.edition, f.code, f.discount_id, 0 AS form, COUNT(*) AS mentions, 0 AS submissions
FROM {_CODES} k CROSS JOIN fact_code_issued f WHERE {_OF_CODES}
GROUP BY f.edition, f.code, f.discount_id
UNION ALL SELECT f.edition, f.code, f.discount_id, 0, COUNT(*), 0
FROM {_CODES} k CROSS JOIN fact_order_code f WHERE {_OF_CODES}
GROUP BY f.edition, f.code, f.discount_id
UNION ALL SELECT f.edition, f.code, '', s.form, 0, COUNT(DISTINCT f.session)
FROM {_CODES} k CROSS JOIN fact_code_issued f CROSS JOIN fact_form_session s
WHERE {_OF_CODES} AND s.edition = f.edition AND s.session = f.session AND s.submitted_at <> {NEVER}
GROUP BY f.edition, f.code, s.form
"""


def name(connection: ArrowConnection, changes: Changes, *, recount: bool) -> None:
    """Name the discount of every code that the touched sessions and orders name or named, and keep of issues
    and codes of orders those that differ. `recount`: usage is counted from the stored facts, in place of what
    is stored of it."""
    named_orders = changes.partials.orders["order"].to_numpy()
    usage = _usage(connection, changes, named_orders, recount=recount)
    stored = fact_table_io.load(connection, tables.dim_discount_code, usage.codes)
    moved = moved_codes(stored, usage.discounts)
    if len(moved):
        _read_holders(connection, changes, moved)
    changes.issues, changes.order_codes = (
        Versions(rows.old, with_discounts(rows.new, usage.discounts))
        for rows in (changes.issues, changes.order_codes)
    )
    changes.issues = _of_differing(
        changes.issues, tables.fact_code_issued, "session", changes.touched
    )
    orders = sorted_unique(changes.changed_orders, named_orders)
    changes.order_codes = _of_differing(
        changes.order_codes, tables.fact_order_code, "order", orders
    )
    changes.code_usage = usage
    changes.texts = unique_texts(
        changes.partials.texts, usage.texts, discount_id_texts(changes.issues.new)
    )


def _usage(
    connection: ArrowConnection, changes: Changes, orders: Column, *, recount: bool
) -> CodeUsage:
    """The codes that the touched sessions and these orders name, and their discounts."""
    issues = changes.issues.having("session", changes.touched)
    used = changes.order_codes.having("order", orders)
    codes = named_codes(issues.old, issues.new, used.old, used.new)
    if not row_count(codes):
        none = {
            name: fact_table_io.no_rows(table, column_names(table))
            for name, table in (
                ("counts", tables.code_usage),
                ("discounts", tables.dim_discount_code),
                ("texts", tables.dim_text),
            )
        }
        return CodeUsage(codes=none["counts"][CODE], **none)
    if recount:
        # Rows of code_usage of these codes, counted from the stored facts. Keys may repeat.
        connection.stage(_CODES, fact_table_io.to_arrow(codes, CODE))
        stored = connection.rows_of(tables.code_usage, _USAGE).to_pandas()
    else:
        stored = fact_table_io.load(connection, tables.code_usage, codes)
    counts = usage_counts(stored, issues, changes.sessions.of(changes.touched), used)
    texts = fact_table_io.load(connection, tables.dim_text, texts_needed(counts))
    return code_usage(codes, counts, pd.concat([texts, changes.partials.texts]))


def _read_holders(connection: ArrowConnection, changes: Changes, moved: pd.DataFrame) -> None:
    """Read the sessions and orders that name a code whose discount moves, with all their codes."""
    issues, codes = (
        fact_table_io.load(connection, table, moved, columns=["edition", id])
        for table, id in ((tables.fact_code_issued, "session"), (tables.fact_order_code, "order"))
    )
    sessions = load_sessions(connection, distinct_rows(key_columns(issues, "session")))
    orders = load_orders(connection, distinct_rows(key_columns(codes, "order")))
    # The codes of touched sessions and of gathered submissions were read before.
    before = changes.sessions.old
    is_read = sessions.index.isin(changes.touched)
    is_read |= sessions.index.isin(before.index[before["submitted_at"] != NEVER])
    fact_table_io.read_issues(connection, changes, sessions[~is_read])
    is_read = orders.index.isin(changes.orders.old.index)
    fact_table_io.read_order_codes(connection, changes, orders[~is_read])
    changes.sessions = changes.sessions.plus(sessions)
    changes.orders = changes.orders.plus(orders)


def _of_differing(rows: Versions, table: Table, id: str, changed: Column) -> Versions:
    """The rows of the sessions or orders (`id`) that are among `changed`, or have a row that differs."""
    differing = rows.differing(table)
    parts = (part[id].to_numpy() for part in (differing.old, differing.new))
    return rows.having(id, sorted_unique(changed, *parts))


def named_codes(*rows: pd.DataFrame) -> dict[str, Column]:
    """The codes that these rows name, each once: edition, code."""
    columns = [np.concatenate(parts) for parts in zip(*map(_code_columns, rows), strict=True)]
    named = columns[1] != 0
    return distinct_rows({name: column[named] for name, column in zip(CODE, columns, strict=True)})


def usage_counts(
    stored: pd.DataFrame, issues: Versions, sessions: Versions, order_codes: Versions
) -> pd.DataFrame:
    """The new rows of code_usage: the stored ones of the codes that a batch names, with what its facts
    counted before taken off and what they count now added.

    `issues`, `order_codes`: rows of fact_code_issued and fact_order_code; `sessions`: by id, those of
    the issues.
    """
    counts = [{name: stored[name] for name in _USED}]
    counts += _counts(issues.new, sessions.new, order_codes.new, 1)
    counts += _counts(issues.old, sessions.old, order_codes.old, -1)
    counts = [one for one in counts if len(one["code"])] or counts[:1]
    index, ids = pd.factorize(pd.concat([one["discount_id"] for one in counts]))
    numbers = {
        name: np.concatenate([np.asarray(one[name], np.int64) for one in counts])
        for name in (*CODE, "form", *_COUNTS)
    }
    summed = group_sum.total(numbers | {"discount_id": index}, (*CODE, "discount_id", "form"))
    summed = take_rows(summed, np.logical_or.reduce([summed[name] != 0 for name in _COUNTS]))
    return pd.DataFrame(summed | {"discount_id": ids.take(summed["discount_id"])})


def _counts(
    issues: pd.DataFrame, sessions: pd.DataFrame, order_codes: pd.DataFrame, sign: int
) -> list[dict[str, Column | pd.Series]]:
    """The counts that these facts add to code_usage, times the sign. Keys may repeat."""
    issues = issues[issues["code"] != 0]

    def counted(rows: Columns, ids: pd.Series, **numbers: int | Column) -> dict[str, Any]:
        counts = {
            name: np.broadcast_to(numbers.get(name, 0), len(ids)) for name in ("form", *_COUNTS)
        }
        return {name: rows[name] for name in CODE} | {"discount_id": ids} | counts

    mentions = [counted(rows, rows["discount_id"], mentions=sign) for rows in (issues, order_codes)]
    groups = group_keys(issues["session"].to_numpy(), issues["code"].to_numpy()).dense()
    once = take(issues, groups.any_row(), (*CODE, "session"))
    index = index_of(sessions.index.to_numpy(), once["session"])
    is_submitted = sessions["submitted_at"].to_numpy()[index] != NEVER
    forms = sessions["form"].to_numpy()[index[is_submitted]]
    nothing = pd.Series("", range(len(forms)), "str")
    submitted = take(once, is_submitted, CODE)
    return [*mentions, counted(submitted, nothing, form=forms, submissions=sign)]


@dataclass(frozen=True)
class _Names:
    """The text that names the discount of each code of the counts (`codes`: edition, code): a discount id; or
    "", where the id `shown` has the text, which is a form's where `by_form`."""

    codes: pd.DataFrame
    discount_ids: pd.Series
    shown: Column
    by_form: Column


def _names(counts: pd.DataFrame) -> _Names:
    codes = group_keys(*_code_columns(counts)).dense()
    ids, submissions = counts["discount_id"], counts["submissions"].to_numpy()
    named = np.flatnonzero((counts["mentions"] > 0) & (ids != ""))
    # The row with the greatest discount id of each code is assigned last.
    named = named[np.argsort(ids.iloc[named].rank(method="dense").to_numpy())]
    greatest = np.full(codes.size, -1)
    greatest[codes.keys[named]] = named
    issued = np.flatnonzero(submissions > 0)
    form = np.zeros(codes.size, np.int64)
    form[codes.keys[issued]] = counts["form"].to_numpy()[issued]
    per_code = group_sum.total({"code": codes.keys, "issued": submissions}, ("code",))
    form[per_code["code"][per_code["issued"] != 1]] = 0
    rows = counts[CODE].iloc[codes.any_row()].reset_index(drop=True)
    return _Names(
        codes=rows,
        discount_ids=pd.Series(ids.array.take(greatest, allow_fill=True, fill_value="")),
        shown=np.where(form != 0, form, rows["code"].to_numpy()),
        by_form=(form != 0).astype(np.int64),
    )


def texts_needed(counts: pd.DataFrame) -> dict[str, Column]:
    """The ids whose text names a discount, for lack of a discount id: edition, id; each once."""
    names = _names(counts)
    bare = (names.discount_ids == "").to_numpy()
    return distinct_rows(
        {"edition": names.codes["edition"].to_numpy()[bare], "id": names.shown[bare]}
    )


def code_usage(codes: dict[str, Column], counts: pd.DataFrame, texts: pd.DataFrame) -> CodeUsage:
    """The discount of every code in the counts (see `usage_counts`).

    `codes`: edition, code, of all codes that the batch names; `texts`: edition, id, text; at least
    those of `texts_needed`.
    """
    names = _names(counts)
    by_id = dict(zip(texts["id"].tolist(), texts["text"].tolist(), strict=True))
    shown = [
        # Stored facts that are damaged may name what has no text: `verify` tells it, a backfill mends it.
        discount_id or ("form:" if by_form else "") + by_id.get(number, str(number))
        for discount_id, number, by_form in zip(
            names.discount_ids.tolist(), names.shown.tolist(), names.by_form.tolist(), strict=True
        )
    ]
    discounts = np.array([text_id(text) for text in shown], dtype=np.int64)
    edition = names.codes["edition"]
    text = pd.Series(shown, dtype="str")
    return CodeUsage(
        codes=pd.DataFrame(codes),
        counts=counts,
        discounts=names.codes.assign(discount=discounts),
        texts=unique_texts(pd.DataFrame({"edition": edition, "id": discounts, "text": text})),
    )


def moved_codes(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The codes of the first rows of dim_discount_code that have another discount in the second, or
    none: edition, code."""
    index = index_of_rows(_code_columns(after), _code_columns(before))
    discount = np.append(after["discount"].to_numpy(), 0)[index]
    return before.loc[(index < 0) | (discount != before["discount"].to_numpy()), CODE]


def with_discounts(rows: pd.DataFrame, discounts: pd.DataFrame) -> pd.DataFrame:
    """Rows of fact_code_issued or fact_order_code with their discount: that of the code where
    `discounts` (rows of dim_discount_code) has it; without a code, the discount id's."""
    index = index_of_rows(_code_columns(discounts), _code_columns(rows))
    of_code = np.append(discounts["discount"].to_numpy(), 0)[index]
    discount = np.where(index >= 0, of_code, rows["discount"].to_numpy())
    bare = (rows["code"] == 0).to_numpy()
    if bare.any():
        discount[bare] = [text_id(text) for text in rows.loc[bare, "discount_id"].tolist()]
    return rows.assign(discount=discount)


def discount_id_texts(rows: pd.DataFrame) -> pd.DataFrame:
    """The texts of the discounts of rows without a code: edition, id, text."""
    bare = rows[rows["code"] == 0]
    return pd.DataFrame(
        {"edition": bare["edition"], "id": bare["discount"], "text": bare["discount_id"]}
    )


def _code_columns(rows: pd.DataFrame) -> list[Column]:
    return [rows[name].to_numpy(np.int64) for name in CODE]
