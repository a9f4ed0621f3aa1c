"""The texts that pages have for figures, from answers of the API alone; and the days that a page asks for."""

import time
from dataclasses import dataclass
from typing import Any

from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.page_text import Section
from tests.web.dashboard.written import nothing
from warehouse.domain.rounding import percent
from warehouse.domain.time import local_day
from web.dashboard import formatting
from web.dashboard.selection import select

Rows = list[dict[str, Any]]


@dataclass
class Asked:
    """The questions of a page to the API about its days."""

    seen: Seen
    query: dict[str, str]

    def __post_init__(self) -> None:
        meta = self.seen.product.get("/v1/attribution", {}, self.seen.shop_id)[1]["meta"]
        self.currency, self.timezone = meta["currency"], meta["timezone"]
        today = local_day(time.time_ns() // 1000, self.timezone)
        self.selection = select(self.query, today, self.timezone, 30)

    def now(self, path: str, **query: str) -> Any:
        first, last = self.selection.first, self.selection.last
        return self.seen.api(path, range=f"{first}..{last}", **query)

    def money(self, cents: int, *, exact: bool = False) -> str:
        return formatting.money(cents, self.currency, exact=exact)


def count(number: int) -> str:
    return formatting.count(number)


def rate(hits: int, trials: int, without: str) -> str:
    """Its people and its interval open with its chip."""
    return formatting.percent(percent(hits, trials)) if trials else nothing(without)


def total(rows: Rows | None, name: str) -> int | None:
    return None if rows is None else sum(row[name] for row in rows)


def day_rows(asked: Asked) -> list[list[str]]:
    """The table of net revenue by day."""
    by_day: dict[str, list[str]] = {}
    for row in asked.now("/attribution/daily"):
        day = formatting.day(asked.selection.first.fromisoformat(row["date"]))
        by_day.setdefault(day, [day]).append(asked.money(row["netRevenueCents"], exact=True))
    return list(by_day.values())


def joined(section: Section) -> Section:
    """With one text for each card."""
    section.cards = {heading: [" ".join(texts)] for heading, texts in section.cards.items()}
    return section
