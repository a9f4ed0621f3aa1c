"""Seeded data of a given size, made in columns: one shop, 90 days, 20 forms.

Per million events: 62,500 visitors, 20,000 orders, some 160,000 form sessions; 8 choice fields of
6 values on 4 steps, 150 combinations of UTM values, 20 discounts with ids.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

SHOP_ID: Final = "bench.myshopify.com"
FIRST: Final = date(2026, 1, 1)
DAYS: Final = 90
LAST: Final = FIRST + timedelta(days=DAYS - 1)
FORM_IDS: Final = [f"0192b000-0000-7000-8000-{number:012d}" for number in range(20)]
FIELDS: Final = 8
CODES: Final = [f"BENCH{number:02d}" for number in range(20)]
CAMPAIGNS: Final = 30
# Rows that are made at a time, so that memory stays bounded at every size; it is pyarrow's own size
# of a row group, too.
PIECE: Final = 1 << 20
# Sessions that the 90 days do not use: they begin on the last day, and come later.
_SPARE: Final = 4_000

# A session goes through a beginning of this list: type, step, field.
_PATH: list[tuple[str, int | None, int | None]] = [("view", None, None), ("start", None, None)]
for _step in range(4):
    _PATH += [
        ("step_view", _step, None),
        ("answer", _step, 2 * _step),
        ("answer", _step, 2 * _step + 1),
        ("step_complete", _step, None),
    ]
_PATH += [("subscribe", None, None), ("complete", None, None)]
# How far: length of the beginning -> share of the sessions.
_LENGTHS = {1: 0.45, 3: 0.20, 6: 0.07, 10: 0.06, 14: 0.04, 20: 0.18}
_START_MS = int(datetime(FIRST.year, FIRST.month, FIRST.day, tzinfo=UTC).timestamp() * 1000)
_DAY_MS = 86_400_000

Ints = npt.NDArray[np.int64]


class Data:
    """Events and, drawn from their sessions, orders; the same for the same size."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.random = np.random.default_rng(size)
        self.visitors = max(1, size // 16)
        mean = sum(length * share for length, share in _LENGTHS.items())
        drawn = int(size / mean * 1.1) + _SPARE
        draw = self.random
        self.length = draw.choice(list(_LENGTHS), drawn, p=list(_LENGTHS.values()))
        self.count = int(np.searchsorted(self.length.cumsum(), size)) + 1
        self.form = draw.integers(0, len(FORM_IDS), drawn)
        self.visitor = draw.integers(0, self.visitors, drawn)
        self.utm = draw.integers(-50, 150, drawn)  # a quarter comes without any
        self.start = _START_MS + draw.integers(0, DAYS * _DAY_MS - 600_000, drawn)
        later = self.start[self.count :]
        later[:] = _START_MS + (DAYS - 1) * _DAY_MS + (later - _START_MS) % (_DAY_MS - 600_000)

    def events(self) -> Iterator[pa.Table]:
        """Those of the 90 days in the order of their instants, a piece at a time."""
        session, place = self._paths(0, self.size)
        at = self.start[session] + place * 9_000 + self.random.integers(0, 4_000, self.size)
        order = np.argsort(at, kind="stable")
        session, place, at = session[order], place[order], at[order]
        for begin in range(0, self.size, PIECE):
            part = slice(begin, begin + PIECE)
            yield self.table(session[part], place[part], at[part], "e", begin)

    def _paths(self, first: int, count: int) -> tuple[Ints, Ints]:
        """Session and place of so many events, from this session on."""
        length = self.length[first : first + count]
        session = np.repeat(np.arange(len(length)), length)[:count]
        place = np.arange(len(session)) - (np.cumsum(length) - length)[session]
        return first + session, place

    def table(self, session: Ints, place: Ints, at: Ints, prefix: str, begin: int = 0) -> pa.Table:
        """Events of these sessions, at these places of the path, numbered from `begin`."""
        types, steps, fields = (list(column) for column in zip(*_PATH, strict=True))
        opening, closing = place == 0, place >= len(_PATH) - 2
        visitor, form, utm = self.visitor[session], self.form[session], self.utm[session]
        with_utm = opening & (utm >= 0)
        value = self.random.integers(0, 6, len(session))
        numbers = begin + np.arange(len(session))
        columns = {
            "event_id": _texts(f"{prefix}-{{}}", numbers),
            "shop_id": _pick([SHOP_ID], numbers * 0),
            "form_id": _pick(FORM_IDS, form),
            "form_session_id": _texts("s-{}", session),
            "visitor_id": _texts("v-{}", visitor),
            "type": _pick(types, place),
            "occurred_at": _instants(at),
            "device_type": _pick(["mobile", "desktop", "tablet"], visitor % 3, opening),
            "step_id": _pick([None if step is None else f"step-{step}" for step in steps], place),
            "step_index": pa.array(steps, pa.int64()).take(pa.array(place)),
            "field_id": _pick([None if n is None else f"field-{n}" for n in fields], place),
            "field_type": _pick([None if n is None else "choice" for n in fields], place),
            "value": _pick([f"value {n}" for n in range(6)], value, _has(fields)[place]),
            "customer_id": _texts("c-{}", visitor, closing & (visitor % 2 == 0)),
            "email": _texts("visitor-{}@example.com", visitor, closing),
            "discount_code": _pick(CODES, form, closing & (form < 12)),
            "discount_id": _pick([f"disc-{code}" for code in CODES], form, closing & (form < 12)),
            **utm_columns(utm, with_utm),
        }
        return pa.table(columns)

    def late(self, count: int, number: int) -> pa.Table:
        """More events of sessions of all days: people who came back to a form and finished it."""
        session = self.random.choice(self.count, count, replace=False)
        place = self.random.integers(1, len(_PATH), count)
        return self.table(session, place, self.start[session] + 400_000, f"late{number}")

    def today(self, count: int, number: int) -> pa.Table:
        """Events of sessions begun on the last day; other sessions for each number."""
        session, place = self._paths(self.count + number * count, count)
        return self.table(session, place, self.start[session] + place * 9_000, f"today{number}")


def utm_columns(utm: Ints, where: npt.NDArray[np.bool_]) -> dict[str, pa.Array]:
    """150 combinations; those of the first two sources can be matched to ad campaigns."""
    campaign = utm % CAMPAIGNS
    return {
        "utm_source": _pick(["facebook", "google", "newsletter", "tiktok", "blog"], utm % 5, where),
        "utm_medium": _pick(["paid", "organic", "email"], utm % 3, where),
        "utm_campaign": _texts("campaign {}", campaign, where),
        "utm_content": _texts("content {}", utm % 150, where),
        "utm_id": _texts("{}", 1000 + campaign, where & (utm % 5 < 2)),
    }


def _has(fields: list[int | None]) -> npt.NDArray[np.bool_]:
    return np.array([field is not None for field in fields])


def _pick(
    values: Sequence[str | None], index: Ints, where: npt.NDArray[np.bool_] | None = None
) -> pa.Array:
    mask = None if where is None else ~where
    return pa.array(values, pa.string()).take(pa.array(index, mask=mask))


def _texts(pattern: str, numbers: Ints, where: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """The pattern with each number in it; each distinct number is formatted once."""
    distinct, index = np.unique(numbers, return_inverse=True)
    return _pick([pattern.format(number) for number in distinct.tolist()], index, where)


def _instants(at: Ints) -> pa.Array:
    return pa.array(at, pa.int64()).cast(pa.timestamp("ms", tz="UTC"))
