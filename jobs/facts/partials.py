"""Partial facts: what raw rows say by themselves, and how those of raw rows and of kept facts merge.

Every part of a partial fact is a minimum, "the earliest that carries one", "the latest that carries
one", or a set. Each merge is commutative, associative and idempotent, so that facts are the same whichever
events RAW_DAYS took.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from jobs.arrays.group_keys import Column, group_keys, index_of, latest
from jobs.facts import quarters
from jobs.facts.read_raw import RawEvents, RawOrders, unique_texts
from warehouse.catalogue import MILESTONES
from warehouse.domain.time import NEVER
from warehouse.domain.vocabulary import ANSWER, STEP_COMPLETE, STEP_VIEW

# Deciding instant, deciding event, and the columns that they carry.
_Carried: TypeAlias = tuple[tuple[str, str, tuple[str, ...]], ...]
_EARLIEST: Final[_Carried] = (
    ("first_at", "first_event", ("visitor",)),
    ("device_at", "device_event", ("device",)),
    ("utm_at", "utm_event", ("utm",)),
    ("variant_at", "variant_event", ("variant",)),
)
_LATEST: Final[_Carried] = (
    ("customer_at", "customer_event", ("customer_seen",)),
    ("email_at", "email_event", ("email",)),
)


@dataclass(frozen=True)
class Partials:
    """The content of some raw rows alone. Columns have the types and meaning of the table they go to.

    - `sessions`: the columns of fact_form_session that come from events (no `session`, nothing
      derived), one row per `session_hash`
    - `steps`, `answers`, `issues`: the columns of fact_step, fact_answer and fact_code_issued that come
      from events, with `session_hash` in place of edition and session
    - `emails`: the columns of fact_email; `step_names`: the columns of dim_step
    - `orders`, `order_codes`: see `RawOrders`; `utms`, `texts`: see `RawEvents`
    """

    sessions: pd.DataFrame
    steps: pd.DataFrame
    answers: pd.DataFrame
    issues: pd.DataFrame
    emails: pd.DataFrame
    step_names: pd.DataFrame
    orders: pd.DataFrame
    order_codes: pd.DataFrame
    utms: pd.DataFrame
    texts: pd.DataFrame

    def size(self) -> int:
        """How many things are said of sessions: what facts take of memory. A choice of an answer is one."""
        choices = pc.sum(pc.count_substring(pa.array(self.answers["value"]), '","')).as_py() or 0
        own = (self.sessions, self.steps, self.answers, self.issues)
        return int(choices) + sum(map(len, own))


@dataclass(frozen=True)
class DecidedAnew:
    """Keys whose latest event is decided anew, whatever is stored of it.

    - `emails`: edition, email
    - `steps`: edition, form, step
    """

    emails: pd.DataFrame
    steps: pd.DataFrame


def _no_keys(*names: str) -> pd.DataFrame:
    return pd.DataFrame({name: np.empty(0, np.int64) for name in names})


NOTHING_ANEW: Final = DecidedAnew(
    emails=_no_keys("edition", "email"),
    steps=_no_keys("edition", "form", "step"),
)


def fold(raw: RawEvents, orders: RawOrders) -> Partials:
    """The partial facts of raw events and orders."""
    events = raw.events
    utms = pd.concat([raw.utms, orders.utms], ignore_index=True)
    return Partials(
        sessions=_sessions(events),
        steps=_steps(events),
        answers=_answers(events),
        issues=_issues(events),
        emails=emails_of(events),
        step_names=step_names_of(events),
        orders=orders.orders,
        order_codes=orders.codes,
        utms=utms.drop_duplicates(["edition", "utm"]),
        texts=unique_texts(raw.texts, orders.texts),
    )


def merge_partials(parts: Sequence[Partials]) -> Partials:
    """The partial facts of several sets of raw events as one. Orders are those of the first."""
    if len(parts) == 1:
        return parts[0]

    def rows_of(name: str) -> pd.DataFrame:
        return pd.concat([getattr(part, name) for part in parts], ignore_index=True)

    return replace(
        parts[0],
        sessions=_one_of_each_session(rows_of("sessions")),
        steps=merge_steps(rows_of("steps"), ["session_hash", "step"]),
        answers=merge_answers(rows_of("answers"), ["session_hash", "field"]),
        issues=rows_of("issues").drop_duplicates(ignore_index=True),
        emails=merge_emails(rows_of("emails")),
        step_names=merge_step_names(rows_of("step_names")),
        utms=rows_of("utms").drop_duplicates(["edition", "utm"]),
        texts=unique_texts(rows_of("texts")),
    )


def _one_of_each_session(rows: pd.DataFrame) -> pd.DataFrame:
    """Partial sessions, each of them merged with the others of its session."""
    again = rows["session_hash"].duplicated().to_numpy()
    merged, rest = rows[~again].reset_index(drop=True), rows[again]
    while len(rest):
        again = rest["session_hash"].duplicated().to_numpy()
        index = index_of(merged["session_hash"].to_numpy(), rest["session_hash"].to_numpy()[~again])
        both = merge_sessions(
            merged.iloc[index].reset_index(drop=True), rest[~again].reset_index(drop=True)
        )
        merged = pd.concat([merged.drop(index=index), both], ignore_index=True)
        rest = rest[again]
    return merged


def _in_order(events: pd.DataFrame) -> Column:
    """The rows by form session, then instant, then event id. Most texts are never looked at."""
    at, session = events["at"].to_numpy(), events["session_hash"].to_numpy()
    order = np.lexsort((at, session))
    at, session = at[order], session[order]
    same = (at[1:] == at[:-1]) & (session[1:] == session[:-1])
    if same.any():
        # Only events of one session at one instant are compared by their ids.
        tied = np.zeros(len(order), dtype=bool)
        tied[1:] |= same
        tied[:-1] |= same
        rank = np.zeros(len(order), dtype=np.int64)
        rank[tied] = events["event_id"].iloc[order[tied]].rank(method="dense").to_numpy()
        order = order[np.lexsort((rank, at, session))]
    return order


def _sessions(events: pd.DataFrame) -> pd.DataFrame:
    order = _in_order(events)
    session = events["session_hash"].to_numpy()[order]
    starts = np.ones(len(events), dtype=bool)
    starts[1:] = session[1:] != session[:-1]
    group = np.cumsum(starts) - 1
    sessions = np.count_nonzero(starts)

    def first(mask: npt.NDArray[np.bool_]) -> Column:
        """Per session the row of its first event in the mask, -1 where there is none."""
        return row_of_session(np.flatnonzero(mask[order])[::-1])

    def last(mask: npt.NDArray[np.bool_]) -> Column:
        return row_of_session(np.flatnonzero(mask[order]))

    def row_of_session(positions: Column) -> Column:
        result = np.full(sessions, -1, dtype=np.int64)
        # The one assigned last stays.
        result[group[positions]] = order[positions]
        return result

    def number(name: str, rows: Column, default: int = 0) -> Column:
        return np.where(rows >= 0, events[name].to_numpy()[rows], default)

    def text(name: str, rows: Column) -> pd.Series:
        return pd.Series(events[name].array.take(rows, allow_fill=True, fill_value=""))

    kind = events["type"].to_numpy()
    rows = order[starts]
    columns: dict[str, object] = {
        "edition": number("edition", rows),
        "session_hash": number("session_hash", rows),
        "form": number("form", rows),
        "form_session_id": text("form_session_id", rows),
        "first_at": number("at", rows),
        "first_event": text("event_id", rows),
        "visitor": number("visitor", rows),
        "quarters": quarters.others(group, events["at"].to_numpy()[order], int(sessions)),
    }
    for milestone in MILESTONES:
        columns[milestone.instant] = number("at", first(kind == milestone.event_type), NEVER)
    for name in ("device", "utm", "variant"):
        rows = first(events[name].to_numpy() != 0)
        columns[f"{name}_at"] = number("at", rows, NEVER)
        columns[f"{name}_event"] = text("event_id", rows)
        columns[name] = number(name, rows)
    rows = last(events["customer"].to_numpy() != 0)
    columns["customer_at"] = number("at", rows)
    columns["customer_event"] = text("event_id", rows)
    columns["customer_seen"] = number("customer", rows)
    rows = last(events["email"].to_numpy() != 0)
    columns["email_at"] = number("at", rows)
    columns["email_event"] = text("event_id", rows)
    columns["email"] = number("email", rows)
    return pd.DataFrame(columns)


def _steps(events: pd.DataFrame) -> pd.DataFrame:
    kind = events["type"]
    rows = events.loc[
        kind.isin([STEP_VIEW, STEP_COMPLETE]),
        ["session_hash", "step", "step_id", "type", "at", "step_index"],
    ]
    viewed = rows["type"] == STEP_VIEW
    rows = pd.DataFrame(
        {
            "session_hash": rows["session_hash"],
            "step": rows["step"],
            "step_id": rows["step_id"],
            "viewed_at": rows["at"].where(viewed, NEVER),
            "step_index": rows["step_index"].where(viewed, 0),
            "completed_at": rows["at"].where(~viewed, NEVER),
        }
    )
    return merge_steps(rows, ["session_hash", "step"])


def merge_steps(rows: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Steps with equal keys as one: first view, first completion, and the greatest index that a view
    at the first instant had."""
    groups = group_keys(*(rows[name].to_numpy() for name in key)).dense()
    viewed_at, step_index = rows["viewed_at"].to_numpy(), rows["step_index"].to_numpy()
    first = np.full(groups.size, NEVER)
    np.minimum.at(first, groups.keys, viewed_at)
    completed = np.full(groups.size, NEVER)
    np.minimum.at(completed, groups.keys, rows["completed_at"].to_numpy())
    at_first = viewed_at == first[groups.keys]
    index = np.full(groups.size, np.iinfo(np.int64).min)
    np.maximum.at(index, groups.keys[at_first], step_index[at_first])
    merged = rows.iloc[groups.any_row()].reset_index(drop=True)
    return merged.assign(viewed_at=first, step_index=index, completed_at=completed)


def _answers(events: pd.DataFrame) -> pd.DataFrame:
    mask = (events["type"] == ANSWER) & (events["field"] != 0)
    rows = events.loc[mask, ["session_hash", "field", "at", "event_id", "value"]]
    rows = rows.rename(columns={"at": "answered_at", "event_id": "answer_event"})
    return merge_answers(rows, ["session_hash", "field"])


def merge_answers(rows: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Answers with equal keys as one: the latest; ties: the greater event id."""
    groups = group_keys(*(rows[name].to_numpy() for name in key)).dense()
    return rows.iloc[latest(groups, rows["answered_at"].to_numpy(), rows["answer_event"])]


def _issues(events: pd.DataFrame) -> pd.DataFrame:
    mask = (events["code"] != 0) | (events["discount_id"] != "")
    rows = events.loc[mask, ["session_hash", "code", "discount_id"]]
    return rows.drop_duplicates().reset_index(drop=True)


def emails_of(events: pd.DataFrame) -> pd.DataFrame:
    """Rows of fact_email of raw events (`RawEvents.events`)."""
    mask = (events["email"] != 0) & (events["customer"] != 0)
    rows = events.loc[mask, ["edition", "email", "at", "customer_id", "customer"]]
    return merge_emails(rows.rename(columns={"at": "seen_at"}))


def merge_emails(rows: pd.DataFrame) -> pd.DataFrame:
    """Sightings of an e-mail with a customer as one: the latest; ties: the greater customer id."""
    groups = group_keys(rows["email"].to_numpy()).dense()
    return rows.iloc[latest(groups, rows["seen_at"].to_numpy(), rows["customer_id"])]


def step_names_of(events: pd.DataFrame) -> pd.DataFrame:
    """Rows of dim_step of raw events."""
    rows = events.loc[
        events["type"].isin([STEP_VIEW, STEP_COMPLETE]),
        ["edition", "form", "step", "at", "event_id", "step_index", "step_name"],
    ]
    named = rows["step_name"] != ""
    rows = pd.DataFrame(
        {
            "edition": rows["edition"],
            "form": rows["form"],
            "step": rows["step"],
            "index_at": rows["at"],
            "index_event": rows["event_id"],
            "step_index": rows["step_index"],
            "name_at": rows["at"].where(named, 0),
            "name_event": rows["event_id"].where(named, ""),
            "step_name": rows["step_name"],
        }
    )
    return merge_step_names(rows)


def merge_step_names(rows: pd.DataFrame) -> pd.DataFrame:
    """Per form and step the latest index, and the latest name that is not missing."""
    groups = group_keys(*(rows[name].to_numpy() for name in ("edition", "form", "step"))).dense()
    index = latest(groups, rows["index_at"].to_numpy(), rows["index_event"])
    named = latest(groups, rows["name_at"].to_numpy(), rows["name_event"])
    merged = rows.iloc[index].reset_index(drop=True)
    for name in ("name_at", "name_event", "step_name"):
        merged[name] = rows[name].array.take(named)
    return merged


def merge_sessions(rows: pd.DataFrame, partial: pd.DataFrame) -> pd.DataFrame:
    """Partial sessions merged with those in the same rows (both of the same length)."""
    merged = rows.copy()
    first_at = np.minimum(rows["first_at"].to_numpy(), partial["first_at"].to_numpy())
    merged["quarters"] = quarters.merged(first_at, rows, partial)
    for milestone in MILESTONES:
        merged[milestone.instant] = np.minimum(rows[milestone.instant], partial[milestone.instant])
    for at, event, carried in _EARLIEST:
        _choose(merged, partial, at, event, carried, earlier=True)
    for at, event, carried in _LATEST:
        _choose(merged, partial, at, event, carried, earlier=False)
    return merged


def _choose(
    merged: pd.DataFrame,
    partial: pd.DataFrame,
    at: str,
    event: str,
    carried: tuple[str, ...],
    *,
    earlier: bool,
) -> None:
    ours, theirs = merged[at].to_numpy(), partial[at].to_numpy()
    better = theirs < ours if earlier else theirs > ours
    tied = np.flatnonzero(theirs == ours)
    if len(tied):
        mine, other = (rows[event].iloc[tied].to_numpy(object) for rows in (merged, partial))
        better[tied] = other < mine if earlier else other > mine
    if better.any():
        for name in (at, event, *carried):
            merged[name] = merged[name].where(~better, partial[name])
