"""Which discount a code belongs to (contract 4, endpoint 16), and what moves when that changes.

The greatest discount id that comes with the code on a fact; else `form:<form id>` where exactly one
submission was ever issued it; else the code itself. What decides is counted in `fact_code`, which
adds up like a daily row: every fact that names the code counts 1 under its discount id, every
submission that was issued it counts 1 under its form.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from jobs.codes import Column, ascending, code, distinct, find, lookup
from jobs.facts import store
from jobs.facts.raw import Words
from jobs.facts.sessions import Children
from jobs.facts.working import Working, those
from warehouse import tables
from warehouse.columns import Table
from warehouse.days import NEVER

_KEY = ["edition", "code", "discount_id", "form"]
_CODE = ["edition", "code"]
_COUNTS = ["mentions", "submissions"]


@dataclass
class Discounts:
    """Old and new rows of `fact_issue` and `fact_order_code`, complete for each session and order
    that has a row in them; the counts and the mapping to store."""

    old_issues: pd.DataFrame
    new_issues: pd.DataFrame
    old_codes: pd.DataFrame
    new_codes: pd.DataFrame
    counts: pd.DataFrame
    gone: pd.DataFrame
    mapping: pd.DataFrame


def resolve_discounts(
    work: Working, children: Children, placed: pd.Index, placed_codes: pd.DataFrame, words: Words
) -> Discounts:
    """Derive the discount of every code that the batch touches, of all facts that name it.

    `placed`: the orders that the batch has a version of; `placed_codes`: the codes of these versions.
    """
    changed = ascending(work.changed_orders(), placed)
    old_codes = _of(work, tables.fact_order_code, those(work.old_orders, changed), "order")
    again = old_codes["order"].isin(placed)
    new_codes = pd.concat([old_codes[~again], placed_codes[old_codes.columns]], ignore_index=True)
    old_issues, new_issues = children.old_issues, children.new_issues
    asked = _distinct(old_issues, new_issues, old_codes, new_codes)
    counts = _summed(
        store.load(work.bulk, tables.fact_code, asked),
        *_mentions(new_issues, work.new_sessions, placed_codes, 1),
        *_mentions(old_issues, work.old_sessions, old_codes[again], -1),
    )
    before = store.load(work.bulk, tables.dim_code, asked)
    mapping = _mapping(work, counts, words)
    places = find(_columns(mapping), _columns(before))
    after = np.append(mapping["discount"].to_numpy(), 0)[places]
    moved = before[(places < 0) | (after != before["discount"].to_numpy())]

    # Every other fact that names a code whose discount has moved.
    more = store.load(work.bulk, tables.fact_issue, moved[_CODE])
    here = np.concatenate([old_issues["session"], new_issues["session"]])
    more_issues = _of(work, tables.fact_issue, more[~more["session"].isin(here)], "session")
    work.load_sessions(_ids(more_issues, "session"))
    more = store.load(work.bulk, tables.fact_order_code, moved[_CODE])
    more_codes = _of(work, tables.fact_order_code, more[~more["order"].isin(changed)], "order")
    work.load_orders(_ids(more_codes, "order"))
    new_issues = pd.concat([new_issues, more_issues[new_issues.columns]], ignore_index=True)
    new_codes = pd.concat([new_codes, more_codes], ignore_index=True)
    return Discounts(
        old_issues=pd.concat([old_issues, more_issues], ignore_index=True),
        new_issues=_assign(new_issues, mapping, words),
        old_codes=pd.concat([old_codes, more_codes], ignore_index=True),
        new_codes=_assign(new_codes, mapping, words),
        counts=counts,
        gone=pd.DataFrame(asked),
        mapping=mapping,
    )


def _columns(rows: pd.DataFrame) -> list[Column]:
    return [rows[name].to_numpy() for name in _CODE]


def _ids(rows: pd.DataFrame, name: str) -> dict[str, Column]:
    return distinct({"edition": rows["edition"].to_numpy(), name: rows[name].to_numpy()})


def _of(work: Working, table: Table, rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """All that is stored in a table of the sessions or orders of these rows."""
    return store.load(work.bulk, table, _ids(rows, name))


def _distinct(*frames: pd.DataFrame) -> dict[str, Column]:
    """The codes that these rows name, each once."""
    columns = [np.concatenate(parts) for parts in zip(*map(_columns, frames), strict=True)]
    named = columns[1] != 0
    return distinct({name: column[named] for name, column in zip(_CODE, columns, strict=True)})


def _mentions(
    issues: pd.DataFrame, sessions: pd.DataFrame, order_codes: pd.DataFrame, sign: int
) -> list[pd.DataFrame]:
    """What these facts count for in `fact_code`, times the sign; keys may repeat."""
    issues = issues[issues["code"] != 0]
    once = issues.iloc[
        code(issues["session"].to_numpy(), issues["code"].to_numpy()).dense().places()
    ]
    places = lookup(sessions.index.to_numpy(), once["session"].to_numpy())
    submitted = sessions["submitted_at"].to_numpy()[places] != NEVER
    once, places = once[submitted], places[submitted]
    named = [
        rows[[*_CODE, "discount_id"]].assign(form=0, mentions=sign, submissions=0)
        for rows in (issues, order_codes)
    ]
    forms = sessions["form"].to_numpy()[places]
    return [*named, once[_CODE].assign(discount_id="", form=forms, mentions=0, submissions=sign)]


def _summed(*frames: pd.DataFrame) -> pd.DataFrame:
    """The counts of all these rows, one row for each key; rows of zeros left out."""
    rows = pd.concat([frame[[*_KEY, *_COUNTS]] for frame in frames], ignore_index=True)
    ids, _ = pd.factorize(rows["discount_id"])
    groups = code(*_columns(rows), ids, rows["form"].to_numpy()).dense()
    summed = rows.iloc[groups.places()].reset_index(drop=True)
    for name in _COUNTS:
        counts = np.zeros(groups.size, np.int64)
        np.add.at(counts, groups.codes, rows[name].to_numpy())
        summed[name] = counts
    return summed[(summed[_COUNTS] != 0).any(axis=1)]


def _mapping(work: Working, counts: pd.DataFrame, words: Words) -> pd.DataFrame:
    """The discount of every code in the counts: edition, code, discount."""
    codes = code(*_columns(counts)).dense()
    ids, submissions = counts["discount_id"], counts["submissions"].to_numpy()
    named = np.flatnonzero((counts["mentions"] > 0) & (ids != ""))
    # The row with the greatest discount id of each code: written last.
    named = named[np.argsort(ids.iloc[named].rank(method="dense").to_numpy())]
    greatest = np.full(codes.size, -1)
    greatest[codes.codes[named]] = named
    issued = np.flatnonzero(submissions > 0)
    form = np.full(codes.size, 0)
    form[codes.codes[issued]] = counts["form"].to_numpy()[issued]
    total = np.zeros(codes.size, np.int64)
    np.add.at(total, codes.codes, submissions)
    form[total != 1] = 0
    result = counts[_CODE].iloc[codes.places()].reset_index(drop=True)
    # What has no discount id is named by its only form, else by itself.
    bare = greatest < 0
    shown = np.where(form != 0, form, result["code"].to_numpy())[bare]
    texts = np.append(ids.to_numpy(object), "")[greatest]
    texts[bare] = [
        f"form:{text}" if only else text
        for text, only in zip(
            _texts(work, result["edition"].to_numpy()[bare], shown, words),
            (form[bare] != 0).tolist(),
            strict=True,
        )
    ]
    discounts = np.array([words.learn(text) for text in texts.tolist()], dtype=np.int64)
    words.note(result["edition"].to_numpy(), discounts)
    return result.assign(discount=discounts)


def _texts(work: Working, editions: Column, ids: Column, words: Words) -> list[str]:
    """The text of each id; those that this batch did not bring itself are looked up."""
    missing = np.array([words.text(number) is None for number in ids.tolist()], dtype=bool)
    keys = distinct({"edition": editions[missing], "id": ids[missing]})
    for text in store.load(work.bulk, tables.dim_text, keys)["text"].tolist():
        words.learn(text)
    return [text for number in ids.tolist() if (text := words.text(number)) is not None]


def _assign(rows: pd.DataFrame, mapping: pd.DataFrame, words: Words) -> pd.DataFrame:
    """Rows with their discount: of the code; of the discount id where there is no code; and as it
    was where neither is in question."""
    places = find(_columns(mapping), _columns(rows))
    known = np.append(mapping["discount"].to_numpy(), 0)[places]
    discount = np.where(places >= 0, known, rows["discount"].to_numpy())
    bare = (rows["code"] == 0).to_numpy()
    if bare.any():
        discount[bare] = [words.learn(text) for text in rows.loc[bare, "discount_id"].tolist()]
        words.note(rows["edition"].to_numpy()[bare], discount[bare])
    return rows.assign(discount=discount)
