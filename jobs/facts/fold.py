"""Events → partial facts: what one portion of events alone says of the form sessions in it.

Every part of a partial fact is a minimum, "the earliest that carries one", "the latest that carries
one", or a set. All of these merge in any order (`merge.py`), which is why the portions do not matter.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

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


def in_order(events: pd.DataFrame) -> pd.DataFrame:
    """Events by form session, then time, then event id."""
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
    return events.iloc[order].reset_index(drop=True)


def fold(events: pd.DataFrame) -> Partials:
    """Partial facts of events (`raw.read_events`)."""
    events = in_order(events)
    return Partials(
        sessions=_sessions(events),
        steps=_steps(events),
        answers=_answers(events),
        issues=_issues(events),
        emails=_emails(events),
        step_names=_step_names(events),
    )


def _sessions(events: pd.DataFrame) -> pd.DataFrame:
    natural = events["natural"].to_numpy()
    starts = np.ones(len(events), dtype=bool)
    starts[1:] = natural[1:] != natural[:-1]
    group = np.cumsum(starts) - 1
    first = np.flatnonzero(starts)

    def earliest(mask: np.ndarray) -> np.ndarray:
        """Per session the place of its first event in the mask, -1 where there is none."""
        places = np.flatnonzero(mask)
        found = np.full(len(first), -1, dtype=np.int64)
        found[group[places[::-1]]] = places[::-1]
        return found

    def latest(mask: np.ndarray) -> np.ndarray:
        places = np.flatnonzero(mask)
        found = np.full(len(first), -1, dtype=np.int64)
        found[group[places]] = places
        return found

    def number(name: str, places: np.ndarray, default: int = 0) -> np.ndarray:
        return np.where(places >= 0, events[name].to_numpy()[places], default)

    def text(name: str, places: np.ndarray) -> pd.Series:
        return pd.Series(events[name].array.take(places, allow_fill=True, fill_value=""))

    kind = events["type"].to_numpy()
    columns: dict[str, object] = {
        "edition": number("edition", first),
        "natural": number("natural", first),
        "form": number("form", first),
        "form_session_id": text("form_session_id", first),
        "first_at": number("at", first),
        "first_event": text("event_id", first),
        "visitor": number("visitor", first),
    }
    for name, code in _MILESTONES.items():
        columns[name] = number("at", earliest(kind == code), NEVER)
    for name in ("device", "utm"):
        places = earliest(events[name].to_numpy() != 0)
        columns[f"{name}_at"] = number("at", places, NEVER)
        columns[f"{name}_event"] = text("event_id", places)
        columns[name] = number(name, places)
    places = latest(events["customer"].to_numpy() != 0)
    columns["customer_at"] = number("at", places)
    columns["customer_event"] = text("event_id", places)
    columns["customer_id"] = text("customer_id", places)
    columns["customer_own"] = number("customer", places)
    places = latest(events["email"].to_numpy() != 0)
    columns["email_at"] = number("at", places)
    columns["email_event"] = text("event_id", places)
    columns["email"] = number("email", places)
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
    if rows.empty:
        return rows
    order = np.lexsort((-rows["step_index"].to_numpy(), rows["viewed_at"].to_numpy()))
    grouped = rows.iloc[order].groupby(key, sort=False)
    least = grouped[["viewed_at", "completed_at"]].min()
    least[["step_id", "step_index"]] = grouped[["step_id", "step_index"]].first()
    return least.reset_index()[rows.columns.tolist()]


def _answers(events: pd.DataFrame) -> pd.DataFrame:
    mask = (events["type"] == ANSWER) & (events["field"] != 0)
    rows = events.loc[mask, ["natural", "field", "at", "event_id", "value"]]
    rows = rows.rename(columns={"at": "answered_at", "event_id": "answer_event"})
    return rows.drop_duplicates(["natural", "field"], keep="last").reset_index(drop=True)


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
    return rows.sort_values(["email", "seen_at", "customer_id"]).drop_duplicates(
        "email", keep="last"
    )


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
    key = ["edition", "form", "step"]
    if rows.empty:
        return rows

    def latest(at: str, event: str, value: str) -> pd.DataFrame:
        # Only what was seen at the last instant of all is compared by event id.
        last = rows[rows[at] == rows.groupby(key)[at].transform("max")]
        return (
            last.sort_values([*key, event])
            .drop_duplicates(key, keep="last")
            .set_index(key)[[at, event, value]]
        )

    index = latest("index_at", "index_event", "step_index")
    return index.join(latest("name_at", "name_event", "step_name")).reset_index()
