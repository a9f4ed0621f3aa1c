"""The texts that pages have for figures, from answers of the API alone; and the days that a page asks for."""

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.page_text import Section
from tests.web.dashboard.written import Write, cell, former, money, nothing, points
from warehouse.domain.rounding import cents, percent
from warehouse.domain.time import local_day
from web.dashboard import formatting, statistics
from web.dashboard.selection import select

Rows = list[dict[str, Any]]


@dataclass
class Asked:
    """The questions of a page to the API: `now()` for its days, `before()` for those that it compares them
    with (None where it compares nothing)."""

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

    def before(self, path: str, **query: str) -> Any:
        if self.query["compare"] == "none":
            return None
        length, last = (
            self.selection.last - self.selection.first,
            self.selection.first - timedelta(1),
        )
        return self.seen.api(path, range=f"{last - length}..{last}", **query)

    def campaigns(self) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
        """The campaigns, each with its row of the days before: an empty one where it had none, None where
        nothing is compared."""
        utm = {"path": "/revenue/by-utm", "dimension": "campaign"}
        before = self.before(**utm)
        former = {_campaign(row): row for row in before["rows"]} if before else {}
        return [
            (row, former.get(_campaign(row), {}) if before else None)
            for row in self.now(**utm)["rows"]
        ]

    def money(self, now: int, before: int | None = None, *, exact: bool = False) -> str:
        """With the amount before, if it is compared."""
        text = formatting.money(now, self.currency, exact=exact)
        return _with(text, now, before, money(self.currency))


def count(now: int, before: int | None = None) -> str:
    return _with(formatting.count(now), now, before, formatting.count)


def rate(
    hits: int, trials: int, then: tuple[int, int] | None = None, *, interval: bool = False
) -> str:
    """`then`: hits and trials before."""
    if not trials:
        return nothing("no one yet")
    texts = [formatting.percent(percent(hits, trials))]
    if interval:
        texts.append(formatting.interval(statistics.of_rate(hits, trials)))
    if then and then[1]:
        value = percent(*then)
        change = round(percent(hits, trials) - value, 2)
        texts.append(f"before {formatting.percent(value)}, {points(change)}")
        if statistics.of_difference(hits, trials, *then).has_zero:
            texts.append("within chance")
    if trials < 30:
        texts.append("few")
    return " ".join(texts)


def total(rows: Rows | None, name: str) -> int | None:
    return None if rows is None else sum(row[name] for row in rows)


def form_row(asked: Asked, form_id: str, name: str) -> list[str]:
    """A row of a table of forms, from the answers about this form."""
    now, before = asked.now(f"/forms/{form_id}/funnel"), asked.before(f"/forms/{form_id}/funnel")

    def pair(figure: str) -> tuple[int, int | None]:
        return now[figure], before and before[figure]

    each = nothing("no submissions")
    if now["submissions"]:
        then = None
        if before and before["submissions"]:
            then = cents(before["netRevenueCents"], before["submissions"])
        each = asked.money(cents(now["netRevenueCents"], now["submissions"]), then)
    return [
        name,
        count(*pair("views")),
        count(*pair("submissions")),
        rate(
            now["submissions"],
            now["views"],
            before and (before["submissions"], before["views"]),
            interval=True,
        ),
        asked.money(*pair("netRevenueCents")),
        each,
        "" if now["submissions"] else nothing("no submissions"),
    ]


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


def _with(text: str, now: int, before: int | None, write: Write) -> str:
    return cell(text, former(now, before, write))


def now_and_before(
    row: dict[str, Any], then: dict[str, Any] | None, name: str
) -> tuple[int, int | None]:
    return row[name], None if then is None else then.get(name, 0)


def _campaign(row: dict[str, Any]) -> tuple[str, str]:
    return row["utmSource"], row["utmCampaign"]
