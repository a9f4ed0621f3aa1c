"""Small but nasty worlds: random raw records in which everything collides.

Few visitors, customers, e-mails, codes and instants, so that ties, shared codes, sessions of one
customer over several visitors, days and windows at their very edge turn up in every world. All
rows are valid (what is rejected is tested elsewhere); nothing lies in the future of `now`, and
two versions of one order never tie, since the contract leaves that rule open.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from tests.support.oracle import ANSWERS
from tests.support.oracle.filters import FILTERED
from tests.support.oracle.times import day_start, local_day
from tests.support.worlds.ads import ad_accounts, ad_spend, exchange_rates
from tests.support.worlds.cast import FIELDS, Cast, Row
from tests.support.worlds.filters import some_filters
from tests.support.worlds.orders import order_versions
from tests.support.worlds.sessions import session_events

_PRESENT = datetime.now(UTC).replace(minute=0, second=0, microsecond=0).isoformat()
NOW = datetime.fromisoformat(os.environ.setdefault("WORLDS_NOW", _PRESENT))
"""One instant for all processes of a run, so that a seed gives the same world all through it. A failing run
prints it; with `WORLDS_NOW` set to it, the seed gives the same world on another day."""

SHOPS = (
    ("UTC", "EUR"),
    ("America/New_York", "USD"),
    ("Asia/Kolkata", "INR"),
    ("America/New_York", "JPY"),
)
DAYS_AGO = (0, 1, 6, 29, 30, 31, 36, 61)
CLOCKS: tuple[dict[str, str], ...] = ({}, {"clock": "order"}, {"clock": "submission"})
WITHIN = ("1", "3", "5", "30")
# Questions of each address and form that are filtered at random.
FILTERED_TIMES = 2
EDGES = (
    timedelta(),
    timedelta(microseconds=-1),
    timedelta(milliseconds=1),
    timedelta(hours=1, minutes=30),
    timedelta(hours=2),
    timedelta(hours=13, seconds=7, milliseconds=250),
)


@dataclass(frozen=True)
class World:
    """Raw records by kind, as `jobs import` names the kinds, and who is in them."""

    seed: int
    now: datetime
    records: dict[str, list[Row]]
    casts: dict[str, Cast]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """How hypothesis names a world; its rows are printed apart, one a line."""
        printer.text(f"world(seed={self.seed})")

    def write(self, folder: Path) -> dict[str, Path]:
        """The records as one file of each kind."""
        files = {}
        for kind, rows in self.records.items():
            files[kind] = folder / f"{kind}.ndjson"
            files[kind].write_text("".join(json.dumps(row) + "\n" for row in rows))
        return files

    def keep(self, wanted: Callable[[str], bool]) -> "World":
        """The same world with only some of its sessions, orders and rows of the other kinds.

        Each is asked about once, in a fixed order. A session or an order goes or stays whole.
        """
        answers: dict[str, bool] = {}

        def stays(kind: str, number: int, row: Row) -> bool:
            match kind:
                case "events":
                    names = [row["shop_id"], row["form_id"].lower(), row["form_session_id"]]
                case "orders":
                    names = [row["shop_id"], row["order_id"]]
                case "shops" | "forms":
                    return True
                case _:
                    names = [str(number)]
            thing = " ".join([kind, *names])
            if thing not in answers:
                answers[thing] = wanted(thing)
            return answers[thing]

        kept = {
            kind: [row for number, row in enumerate(rows) if stays(kind, number, row)]
            for kind, rows in self.records.items()
        }
        return replace(self, records=kept)

    def ranges(self, shop_id: str) -> list[str | None]:
        """Values of `range` worth asking: the default, a week, everything, one day, a pair."""
        cast = self.casts[shop_id]
        days = sorted({local_day(at, cast.timezone) for at in cast.moments})
        one, two = sorted(Random(self.seed).choices(days, k=2))
        today = local_day(self.now, cast.timezone)
        return [None, "7d", f"{days[0]}..{today}", f"{two}", f"{one}..{two}"]

    def questions(self, shop_id: str) -> list[tuple[str, dict[str, str]]]:
        """All that the oracle answers: each path with its parameters, but without `range`."""
        cast = self.casts[shop_id]
        listed = [*cast.forms, cast.unknown_form, cast.foreign_form, cast.forms[0].upper()]
        fields = list(FIELDS)
        parameters: dict[str, Sequence[dict[str, str]]] = {
            "/v1/forms/funnel": [{}, {"form_ids": ",".join([*listed, str(UUID(int=7))])}],
            "/v1/revenue/by-utm": [
                {"dimension": name} for name in ("campaign", "attribution", "hierarchy")
            ],
            "/v1/revenue/by-form": CLOCKS,
            "/v1/orders": [
                {"limit": "200"},
                {"type": "discount_code", "customer": "new"},
                {"form_id": cast.forms[0], "utm_source": "", "limit": "7"},
                {"customer": "returning", "utm_campaign": ""},
            ],
            "/v1/customers/ltv": [{"dimension": name} for name in ("form", "segment")],
            "/v1/forms/{id}/funnel": [{}, *({"within": days} for days in WITHIN)],
            "/v1/forms/{id}/trends": CLOCKS,
            "/v1/forms/{id}/cross-field": [
                {"fieldA": a, "fieldB": b}
                for a, b in zip(fields, [*fields[1:], fields[0]], strict=True)
            ],
        }
        rng = Random(f"filters of {shop_id} {self.seed}")
        found = []
        for address in ANSWERS:
            for form_id in cast.forms if "{id}" in address else [""]:
                own = [*parameters.get(address, [{}])]
                if address in (*FILTERED, "/v1/orders"):
                    # Orders are asked the first question alone: each other one is a statement of its own.
                    plain = own[:1] if address == "/v1/orders" else own
                    own = own + [
                        {**rng.choice(plain), **some_filters(rng)} for _ in range(FILTERED_TIMES)
                    ]
                found += [(address.format(id=form_id), more) for more in own]
        return found


def world(seed: int, size: int = 10, now: datetime = NOW, changed_clocks: bool = True) -> World:
    """A world of about `size` form sessions (six events each) and half as many orders again.

    Without the days of changed clocks a seed gives the same world as many days ago on every day.
    """
    rng = Random(seed)
    casts = cast_of(rng, now, changed_clocks)
    events: list[Row] = []
    orders: list[Row] = []
    forms: list[Row] = []
    records: dict[str, list[Row]] = {"ad-spend": [], "ad-accounts": []}
    for cast in casts:
        mine: list[Row] = []
        for number in range(size // len(casts)):
            mine += session_events(rng, cast, number)
        numbers = rng.sample(range(10 * len(mine) + 10), len(mine))
        for row, event_number in zip(mine, numbers, strict=True):
            row["event_id"] = rng.choice("eE") + str(event_number)
        for number in range(size * 3 // 2 // len(casts)):
            orders += order_versions(rng, cast, number, mine)
        events += mine
        forms += [form_row(cast, form_id) for form_id in cast.forms]
        records["ad-spend"] += ad_spend(rng, cast, size)
        records["ad-accounts"] += ad_accounts(rng, cast, now)
    records["shops"] = [shop_row(rng, cast) for cast in casts]
    records["forms"] = forms
    records["events"] = events
    records["orders"] = orders
    records["exchange-rates"] = exchange_rates(rng, [day for cast in casts for day in cast.days])
    return World(seed, now, records, {cast.shop_id: cast for cast in casts})


def each(seeds: Iterable[int]) -> Iterator[int]:
    """Seeds that a test tries in turn; the last one that a failure prints is the one that failed."""
    for seed in seeds:
        print(f"seed {seed}")
        yield seed


def cast_of(rng: Random, now: datetime, changed_clocks: bool) -> list[Cast]:
    """One or two shops; each also sends events of a form that only the other one has."""
    chosen = rng.sample(SHOPS, rng.choice((1, 2, 2)))
    ids = [[str(UUID(int=rng.getrandbits(128), version=4)) for _ in range(3)] for _ in range(2)]
    casts = []
    for number, (zone, currency) in enumerate(chosen):
        timezone = ZoneInfo(zone)
        moments = moments_of(rng, timezone, now, changed_clocks)
        casts.append(
            Cast(
                shop_id=f"shop-{number}.example",
                timezone=timezone,
                currency=currency,
                forms=ids[number][:2],
                unknown_form=ids[number][2],
                foreign_form=ids[1 - number][0],
                moments=moments,
                days=sorted({local_day(at, timezone) for at in moments}),
                now=now,
            )
        )
    return casts


def moments_of(
    rng: Random, timezone: ZoneInfo, now: datetime, changed_clocks: bool
) -> list[datetime]:
    """A dozen instants about midnights of the shop, today, the windows' edges and both clock
    changes, from which nearly everything in a world happens."""
    today = local_day(now, timezone)
    days = [today - timedelta(days=ago) for ago in rng.sample(DAYS_AGO, 4)]
    if changed_clocks:
        days += rng.sample(clock_changes(today), 2)
    found = [day_start(day, timezone) + edge for day in days for edge in rng.sample(EDGES, 3)]
    return sorted({now - timedelta(days=1), *(at for at in found if at <= now)})


def clock_changes(today: date) -> list[date]:
    """The days of the last year about which New York changes its clock, and the days after."""
    zone = ZoneInfo("America/New_York")
    days = [today - timedelta(days=ago) for ago in range(1, 366)]
    short_or_long = [
        day
        for day in days
        if day_start(day + timedelta(days=1), zone) - day_start(day, zone) != timedelta(hours=24)
    ]
    return [day + timedelta(days=after) for day in short_or_long for after in (0, 1)]


def shop_row(rng: Random, cast: Cast) -> Row:
    row: dict[str, Any] = {"shop_id": cast.shop_id, "currency": cast.currency}
    if cast.timezone.key != "UTC" or rng.random() < 0.5:
        row["timezone"] = cast.timezone.key
    return row


def form_row(cast: Cast, form_id: str) -> Row:
    return {"form_id": form_id, "shop_id": cast.shop_id, "name": f"Form {form_id[:4]}"}
