"""Facts from literals, and the rows that a rollup makes of them, for comparison with literals."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from jobs.facts.facts import Facts
from jobs.rollups import ROLLUPS
from jobs.rollups.parts import DailyRows
from warehouse.catalogue import SUMMARY
from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND, NEVER, NO_DAY
from warehouse.domain.vocabulary import UNATTRIBUTED, UNKNOWN_CUSTOMER

Row = Mapping[str, int]

_SESSION = {
    "edition": 1,
    "session": 1,
    "form": 1,
    "visitor": 1,
    "device": 1,
    "utm": 0,
    "variant": 0,
    "customer": 0,
    "is_first_session": 1,
    "first_at": NEVER,
    "viewed_at": NEVER,
    "started_at": NEVER,
    "subscribed_at": NEVER,
    "completed_at": NEVER,
    "orders": 0,
    "gross": 0,
    "refunded": 0,
}
_STEP = {
    "edition": 1,
    "session": 1,
    "step": 1,
    "viewed_at": NEVER,
    "step_index": 0,
    "completed_at": NEVER,
}
_ANSWER = {"edition": 1, "session": 1, "field": 1, "value": 0, "listed": 0, "paired": 1}
_ISSUE = {"edition": 1, "session": 1, "discount": 1}
_ORDER = {
    "edition": 1,
    "order": 1,
    "created_at": 0,
    "gross": 0,
    "refunded": 0,
    "type": UNATTRIBUTED,
    "session": 0,
    "form": 0,
    "utm": 0,
    "customer": 0,
    "customer_type": UNKNOWN_CUSTOMER,
}
_ORDER_CODE = {"edition": 1, "order": 1, "discount": 1, "discounted": 0}
_EVENT = {"edition": 1, "form": 1, "day": 0}
_QUARTER = {"edition": 1, "session": 1, "day": 0}


def at(day: int, seconds: int = 0) -> int:
    """An instant so many seconds into a day."""
    return day * MICROS_PER_DAY + seconds * MICROS_PER_SECOND


def facts(
    sessions: Iterable[Row] = (),
    steps: Iterable[Row] = (),
    answers: Iterable[Row] = (),
    issues: Iterable[Row] = (),
    orders: Iterable[Row] = (),
    order_codes: Iterable[Row] = (),
    events: Iterable[Row] = (),
    quarters: Iterable[Row] = (),
) -> Facts:
    """Facts of UTC shops: what a row leaves out has its default, days follow from the instants."""
    return Facts(
        sessions=frame(map(_session, sessions), _session({})),
        steps=frame(map(_step, steps), _step({})),
        answers=frame((_ANSWER | dict(row) for row in answers), _ANSWER),
        issues=frame((_ISSUE | dict(row) for row in issues), _ISSUE),
        orders=frame(map(_order, orders), _order({})),
        order_codes=frame((_ORDER_CODE | dict(row) for row in order_codes), _ORDER_CODE),
        events=frame((_EVENT | dict(row) for row in events), _EVENT),
        quarters=frame((_QUARTER | dict(row) for row in quarters), _QUARTER),
    )


def answers(session: int, chosen: Mapping[int, Iterable[int]], **columns: int) -> list[Row]:
    """The rows of a session's answers: field -> the values chosen (none: not aggregatable)."""
    return [
        {"session": session, "field": field, "value": value, **columns}
        for field, values in chosen.items()
        for value in (0, *values)
    ]


def rolled(name: str, of: Facts) -> list[dict[str, Any]]:
    """The rows of a rollup, sorted; columns that are 0 are left out."""
    return rows(name, ROLLUPS[name](of))


def rows(name: str, daily: DailyRows) -> list[dict[str, Any]]:
    columns, result = list(SUMMARY[name].columns), pd.DataFrame(daily)
    assert list(result.columns) == columns
    assert {str(dtype) for dtype in result.dtypes} == {"int64"}
    assert not result.duplicated(columns[: -len(SUMMARY[name].measures)]).any()
    ordered = result.sort_values(columns).to_dict("records")
    return [{column: value for column, value in row.items() if value} for row in ordered]


def frame(of: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> pd.DataFrame:
    names = list(columns)
    whole = [name for name in names if name != "step_id"]
    return pd.DataFrame(list(of), columns=names).astype(dict.fromkeys(whole, "int64"))


def _session(given: Row) -> dict[str, Any]:
    row = _SESSION | dict(given)
    row["submitted_at"] = min(row["subscribed_at"], row["completed_at"])
    return row | {
        "view_day": _day(row["viewed_at"]),
        "start_day": _day(row["started_at"]),
        "subscribe_day": _day(row["subscribed_at"]),
        "complete_day": _day(row["completed_at"]),
        "submit_day": _day(row["submitted_at"]),
    }


def _step(given: Row) -> dict[str, Any]:
    row = _STEP | dict(given)
    # A text in the order of the numbers.
    return row | {"view_day": _day(row["viewed_at"]), "step_id": f"{row['step'] + 2**63:020d}"}


def _order(given: Row) -> dict[str, int]:
    row = _ORDER | dict(given)
    return row | {"day": _day(row["created_at"])}


def _day(instant: int) -> int:
    return NO_DAY if instant == NEVER else instant // MICROS_PER_DAY
