"""Events → partial facts: what one portion of events alone says of the form sessions in it.

Every part of a partial fact is a minimum, "the earliest that carries one", "the latest that carries
one", or a set. All of these merge in any order (`merge.py`), which is why the portions do not matter.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from jobs.codes import Column, code, latest
from warehouse.days import NEVER
from warehouse.vocabulary import (
    ANSWER,
    COMPLETE,
    START,
    STEP_COMPLETE,
    STEP_VIEW,
    SUBSCRIBE,
    VIEW,
)

_MILESTONES = {
    "viewed_at": VIEW,
    "started_at": START,
    "subscribed_at": SUBSCRIBE,
    "completed_at": COMPLETE,
}


@dataclass(frozen=True)
class Partials:
    """`sessions` by natural; `steps`, `answers`, `issues` by natural and step, field, code; `emails`
    by e-mail; `step_names` by form and step."""

    sessions: pd.DataFrame
    steps: pd.DataFrame
    answers: pd.DataFrame
    issues: pd.DataFrame
    emails: pd.DataFrame
    step_names: pd.DataFrame


def fold(events: pd.DataFrame) -> Partials:
    """Partial facts of events (`raw.read_events`)."""
    return Partials(
        sessions=_sessions(events),
        steps=_steps(events),
        answers=_answers(events),
        issues=_issues(events),
        emails=_emails(events),
        step_names=_step_names(events),
    )


def _in_order(events: pd.DataFrame) -> Column:
    """The rows by form session, then time, then event id. Events stay where they are: of most, the
    texts are never looked at."""
    at, natural = events["at"].to_numpy(), events["natural"].to_numpy()
    order = np.lexsort((at, natural))
    at, natural = at[order], natural[order]
    same = (at[1:] == at[:-1]) & (natural[1:] == natural[:-1])
    if same.any():
        # Only events of one session at one instant are compared by their ids.
        tied = np.zeros(len(order), dtype=bool)
        tied[1:] |= same
        tied[:-1] |= same
        rank = np.zeros(len(order), dtype=np.int64)
        rank[tied] = events["event_id"].iloc[order[tied]].rank(method="dense").to_numpy()
        order = order[np.lexsort((rank, at, natural))]
    return order


def _sessions(events: pd.DataFrame) -> pd.DataFrame:
    order = _in_order(events)
    natural = events["natural"].to_numpy()[order]
    starts = np.ones(len(events), dtype=bool)
    starts[1:] = natural[1:] != natural[:-1]
    group = np.cumsum(starts) - 1
    sessions = np.count_nonzero(starts)

    def first(mask: npt.NDArray[np.bool_]) -> Column:
        """Per session the row of its first event in the mask, -1 where there is none."""
        return found_at(np.flatnonzero(mask[order])[::-1])

    def last(mask: npt.NDArray[np.bool_]) -> Column:
        return found_at(np.flatnonzero(mask[order]))

    def found_at(places: Column) -> Column:
        found = np.full(sessions, -1, dtype=np.int64)
        # Of several the one that is written last stays.
        found[group[places]] = order[places]
        return found

    def number(name: str, rows: Column, default: int = 0) -> Column:
        return np.where(rows >= 0, events[name].to_numpy()[rows], default)

    def text(name: str, rows: Column) -> pd.Series:
        return pd.Series(events[name].array.take(rows, allow_fill=True, fill_value=""))

    kind = events["type"].to_numpy()
    rows = order[starts]
    columns: dict[str, object] = {
        "edition": number("edition", rows),
        "natural": number("natural", rows),
        "form": number("form", rows),
        "form_session_id": text("form_session_id", rows),
        "first_at": number("at", rows),
        "first_event": text("event_id", rows),
        "visitor": number("visitor", rows),
    }
    for name, milestone in _MILESTONES.items():
        columns[name] = number("at", first(kind == milestone), NEVER)
    for name in ("device", "utm"):
        rows = first(events[name].to_numpy() != 0)
        columns[f"{name}_at"] = number("at", rows, NEVER)
        columns[f"{name}_event"] = text("event_id", rows)
        columns[name] = number(name, rows)
    rows = last(events["customer"].to_numpy() != 0)
    columns["customer_at"] = number("at", rows)
    columns["customer_event"] = text("event_id", rows)
    columns["customer_own"] = number("customer", rows)
    rows = last(events["email"].to_numpy() != 0)
    columns["email_at"] = number("at", rows)
    columns["email_event"] = text("event_id", rows)
    columns["email"] = number("email", rows)
    return pd.DataFrame(columns)


def _steps(events: pd.DataFrame) -> pd.DataFrame:
    kind = events["type"]
    rows = events.loc[
        kind.isin([STEP_VIEW, STEP_COMPLETE]),
        ["natural", "step", "step_id", "type", "at", "step_index"],
    ]
    viewed = rows["type"] == STEP_VIEW
    rows = pd.DataFrame(
        {
            "natural": rows["natural"],
            "step": rows["step"],
            "step_id": rows["step_id"],
            "viewed_at": rows["at"].where(viewed, NEVER),
            "step_index": rows["step_index"].where(viewed, 0),
            "completed_at": rows["at"].where(~viewed, NEVER),
        }
    )
    return least_steps(rows, ["natural", "step"])


def least_steps(rows: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Partial steps with equal keys as one: first view, first completion, and the greatest index
    that a view at the first instant had."""
    groups = code(*(rows[name].to_numpy() for name in key)).dense()
    viewed_at, step_index = rows["viewed_at"].to_numpy(), rows["step_index"].to_numpy()
    first = np.full(groups.size, NEVER)
    np.minimum.at(first, groups.codes, viewed_at)
    completed = np.full(groups.size, NEVER)
    np.minimum.at(completed, groups.codes, rows["completed_at"].to_numpy())
    at_first = viewed_at == first[groups.codes]
    index = np.full(groups.size, np.iinfo(np.int64).min)
    np.maximum.at(index, groups.codes[at_first], step_index[at_first])
    least = rows.iloc[groups.places()].reset_index(drop=True)
    return least.assign(viewed_at=first, step_index=index, completed_at=completed)


def _answers(events: pd.DataFrame) -> pd.DataFrame:
    mask = (events["type"] == ANSWER) & (events["field"] != 0)
    rows = events.loc[mask, ["natural", "field", "at", "event_id", "value"]]
    rows = rows.rename(columns={"at": "answered_at", "event_id": "answer_event"})
    return latest_answers(rows, ["natural", "field"])


def latest_answers(rows: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Of several answers of a session to a field the latest; ties: the greater event id."""
    groups = code(*(rows[name].to_numpy() for name in key)).dense()
    return rows.iloc[latest(groups, rows["answered_at"].to_numpy(), rows["answer_event"])]


def _issues(events: pd.DataFrame) -> pd.DataFrame:
    mask = (events["code"] != 0) | (events["discount_id"] != "")
    rows = events.loc[mask, ["natural", "code", "discount_id"]]
    return rows.drop_duplicates().reset_index(drop=True)


def _emails(events: pd.DataFrame) -> pd.DataFrame:
    mask = (events["email"] != 0) & (events["customer"] != 0)
    rows = events.loc[mask, ["edition", "email", "at", "customer_id", "customer"]]
    return latest_emails(rows.rename(columns={"at": "seen_at"}))


def latest_emails(rows: pd.DataFrame) -> pd.DataFrame:
    """Of several sightings of an e-mail the latest; ties: the greater customer id."""
    groups = code(rows["email"].to_numpy()).dense()
    return rows.iloc[latest(groups, rows["seen_at"].to_numpy(), rows["customer_id"])]


def _step_names(events: pd.DataFrame) -> pd.DataFrame:
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
    return latest_step_names(rows)


def latest_step_names(rows: pd.DataFrame) -> pd.DataFrame:
    """Per form and step the latest index, and the latest name that is not missing."""
    groups = code(*(rows[name].to_numpy() for name in ("edition", "form", "step"))).dense()
    index = latest(groups, rows["index_at"].to_numpy(), rows["index_event"])
    named = latest(groups, rows["name_at"].to_numpy(), rows["name_event"])
    found = rows.iloc[index].reset_index(drop=True)
    for name in ("name_at", "name_event", "step_name"):
        found[name] = rows[name].array.take(named)
    return found
