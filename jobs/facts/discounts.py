"""Which discount a code belongs to (contract 4, endpoint 16), and what moves when that changes.

The greatest discount id that comes with the code on a fact; else `form:<form id>` where exactly one
submission was ever issued it; else the code itself. What decides is counted in `fact_code`, which
adds up like a daily row: every fact that names the code counts 1 under its discount id, every
submission that was issued it counts 1 under its form.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from jobs.facts import store
from jobs.facts.raw import Words
from jobs.facts.sessions import Children
from jobs.facts.working import Working
from warehouse import tables
from warehouse.days import NEVER

_KEY = ["edition", "code", "discount_id", "form"]
_CODE = ["edition", "code"]


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
    changed = work.changed_orders()
    gone_or_kept = work.old_orders.loc[
        work.old_orders.index.intersection(placed.union(pd.Index(changed))), ["edition", "order"]
    ]
    old_codes = store.load(work.bulk, tables.fact_order_code, gone_or_kept)
    kept = old_codes[~old_codes["order"].isin(placed)]
    new_codes = pd.concat([kept, placed_codes[old_codes.columns]], ignore_index=True)
    old_issues, new_issues = children.old_issues, children.new_issues

    before_placed = old_codes[old_codes["order"].isin(placed)]
    delta = pd.concat(
        [
            _mentions(new_issues, work.new_sessions, placed_codes),
            _mentions(old_issues, work.old_sessions, before_placed) * -1,
        ]
    )
    delta = delta.groupby(_KEY).sum()
    asked = pd.concat(
        [frame[_CODE] for frame in (new_issues, new_codes, delta.reset_index())], ignore_index=True
    ).drop_duplicates()
    asked = asked[asked["code"] != 0]
    stored = store.load(work.bulk, tables.fact_code, asked).set_index(_KEY)
    counts = pd.concat([stored, delta]).groupby(_KEY).sum()
    counts = counts[(counts != 0).any(axis=1)]
    before = store.load(work.bulk, tables.dim_code, asked)
    mapping = _mapping(work, counts, words)
    same = before.merge(mapping, on=[*_CODE, "discount"])
    moved = before[
        ~pd.MultiIndex.from_frame(before[_CODE]).isin(pd.MultiIndex.from_frame(same[_CODE]))
    ][_CODE]

    # Every other fact that names a code whose discount has moved.
    more = store.load(work.bulk, tables.fact_issue, moved)[["edition", "session"]]
    more = more[
        ~more["session"].isin(new_issues["session"]) & ~more["session"].isin(old_issues["session"])
    ].drop_duplicates()
    more_issues = store.load(work.bulk, tables.fact_issue, more)
    work.load_sessions(more)
    orders = store.load(work.bulk, tables.fact_order_code, moved)[["edition", "order"]]
    orders = orders[~orders["order"].isin(pd.Index(changed).union(placed))].drop_duplicates()
    more_codes = store.load(work.bulk, tables.fact_order_code, orders)
    work.load_orders(orders)
    new_issues = pd.concat([new_issues, more_issues[new_issues.columns]], ignore_index=True)
    new_codes = pd.concat([new_codes, more_codes], ignore_index=True)
    return Discounts(
        old_issues=pd.concat([old_issues, more_issues], ignore_index=True),
        new_issues=_assign(new_issues, mapping, words),
        old_codes=pd.concat([old_codes, more_codes], ignore_index=True),
        new_codes=_assign(new_codes, mapping, words),
        counts=counts.reset_index(),
        gone=asked,
        mapping=mapping,
    )


def _mentions(
    issues: pd.DataFrame, sessions: pd.DataFrame, order_codes: pd.DataFrame
) -> pd.DataFrame:
    issues = issues[issues["code"] != 0]
    mentions = pd.concat(
        [issues[[*_CODE, "discount_id"]], order_codes[[*_CODE, "discount_id"]]], ignore_index=True
    )
    mentions = mentions.assign(form=0, mentions=1, submissions=0)
    once = issues[["edition", "session", "code"]].drop_duplicates()
    submitted = sessions.loc[sessions["submitted_at"] != NEVER, ["form"]]
    issued = once.join(submitted, on="session", how="inner")
    issued = issued.assign(discount_id="", mentions=0, submissions=1)
    rows = pd.concat([mentions, issued[mentions.columns]], ignore_index=True)
    return rows.groupby(_KEY)[["mentions", "submissions"]].sum()


def _mapping(work: Working, counts: pd.DataFrame, words: Words) -> pd.DataFrame:
    """The discount of every code in the counts: edition, code, discount."""
    rows = counts.reset_index()
    named = rows[(rows["mentions"] > 0) & (rows["discount_id"] != "")]
    greatest = named.sort_values([*_CODE, "discount_id"]).drop_duplicates(_CODE, keep="last")
    result = (
        rows[_CODE].drop_duplicates().merge(greatest[[*_CODE, "discount_id"]], on=_CODE, how="left")
    )
    issued = rows[rows["submissions"] > 0]
    single = issued[issued.groupby(_CODE)["submissions"].transform("sum") == 1]
    forms = dict(
        zip(
            zip(single["edition"].tolist(), single["code"].tolist(), strict=True),
            single["form"].tolist(),
            strict=True,
        )
    )
    codes = list(zip(result["edition"].tolist(), result["code"].tolist(), strict=True))
    identified = result["discount_id"].notna().tolist()
    _learn(
        work,
        [
            (edition, code)
            for (edition, code), known in zip(codes, identified, strict=True)
            if not known
        ]
        + [(pair[0], form) for pair, form in forms.items()],
        words,
    )
    discounts = []
    for pair, discount, known in zip(
        codes, result["discount_id"].tolist(), identified, strict=True
    ):
        if not known:
            discount = f"form:{words.text(forms[pair])}" if pair in forms else words.text(pair[1])
        discounts.append(words.learn(discount))
    mapping = result[_CODE].assign(discount=np.array(discounts, dtype=np.int64))
    words.note(mapping["edition"].to_numpy(), mapping["discount"].to_numpy())
    return mapping


def _learn(work: Working, pairs: list[tuple[int, int]], words: Words) -> None:
    """Look the texts up that this batch did not bring itself."""
    missing = [pair for pair in set(pairs) if words.text(pair[1]) is None]
    keys = pd.DataFrame(missing, columns=["edition", "id"], dtype="int64")
    for text in store.load(work.bulk, tables.dim_text, keys)["text"].tolist():
        words.learn(text)


def _assign(rows: pd.DataFrame, mapping: pd.DataFrame, words: Words) -> pd.DataFrame:
    """Rows with their discount: of the code; of the discount id where there is no code; and as it
    was where neither is in question."""
    known = pd.MultiIndex.from_frame(mapping[_CODE])
    places = known.get_indexer(pd.MultiIndex.from_frame(rows[_CODE]))
    discount = rows["discount"].to_numpy().copy()
    hit = places >= 0
    discount[hit] = mapping["discount"].to_numpy()[places[hit]]
    bare = (rows["code"] == 0).to_numpy()
    if bare.any():
        discount[bare] = [words.learn(text) for text in rows.loc[bare, "discount_id"].tolist()]
        words.note(rows["edition"].to_numpy()[bare], discount[bare])
    return rows.assign(discount=discount)
