"""The days of the shop and of a form: tables, drawings and the script's data have the API's figures."""

import json
import re
from datetime import date
from html import unescape
from typing import Any

import pytest
from flask.ctx import RequestContext

from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.page_text import sections
from web.dashboard import formatting
from web.dashboard.revenue import DAY_NAMES


def in_english(seen: Seen) -> RequestContext:
    """Formats as the pages do for the browser of the tests."""
    return seen.browser.client.application.test_request_context(headers={"Accept-Language": "en"})


def form_ids(seen: Seen) -> list[str]:
    return [row["formId"] for row in seen.api("/forms/funnel", range="90d") if row["formName"]]


def currency(seen: Seen) -> str:
    code: str = seen.product.get("/v1/attribution", {}, seen.shop_id)[1]["meta"]["currency"]
    return code


def figures(page: str) -> list[str]:
    """The markup of each chart of days."""
    return re.findall(r'<figure class="day-chart".*?</figure>', page, re.DOTALL)


def texts(markup: str, tag: str) -> list[str]:
    return [unescape(text) for text in re.findall(rf"<{tag}\b[^>]*>([^<]*)</{tag}>", markup)]


@pytest.mark.parametrize("path", ["/", "/revenue"])
@pytest.mark.parametrize("days", ["90d", "7d", "today"])
def test_net_revenue_by_day(seen: Seen, path: str, days: str) -> None:
    page = seen.page(path, range=days, numbers="days")
    rows = seen.api("/attribution/daily", range=today(seen) if days == "today" else days)
    by_day: dict[str, list[int]] = {}
    for row in rows:
        by_day.setdefault(row["date"], []).append(row["netRevenueCents"])
    code = currency(seen)
    with in_english(seen):

        def money(cents: int) -> str:
            return formatting.money(cents, code, exact=True)

        sections(page)["Revenue by day"].check(
            [
                [formatting.day(date.fromisoformat(day)), *map(money, parts)]
                for day, parts in by_day.items()
            ]
        )
        # The chart has what is credited, whatever the type, and what is not.
        by_day = {day: [sum(parts[:3]), parts[3]] for day, parts in by_day.items()}
        (drawing,) = figures(page)
        assert texts(drawing, "title") == [
            f"{formatting.day(date.fromisoformat(day))}: "
            + (
                ", ".join(
                    f"{name} {money(part)}"
                    for name, part in zip(DAY_NAMES, parts, strict=True)
                    if part
                )
                or money(0)
            )
            for day, parts in by_day.items()
        ]
    bars = re.findall(r'url\(#part-(\d)\)"[^>]*? height="([\d.]+)%"', drawing)
    amounts = [
        (place, part) for parts in by_day.values() for place, part in enumerate(parts) if part
    ]
    assert [int(part) for part, _ in bars] == [place for place, _ in amounts]
    if amounts:
        most = max(abs(amount) for _, amount in amounts)
        tallest = max(float(height) for _, height in bars)
        assert [float(height) / tallest for _, height in bars] == pytest.approx(
            [abs(amount) / most for _, amount in amounts], abs=0.003
        )


def today(seen: Seen) -> str:
    day: str = seen.api("/attribution/daily", range="7d")[-1]["date"]
    return day


@pytest.mark.parametrize(
    ("asked", "clock"),
    [
        ({"range": "90d"}, "order"),
        ({"range": "7d"}, "order"),
        ({"range": "today"}, "order"),
        ({"range": "30d", "clock": "submission"}, "submission"),
        ({"range": "30d", "clock": "order"}, "order"),
    ],
)
def test_days_of_a_form(seen: Seen, asked: dict[str, str], clock: str) -> None:
    code = currency(seen)
    differing = 0
    for form_id in form_ids(seen):
        page = seen.page(f"/forms/{form_id}", **asked, numbers="days")
        days = today(seen) if asked["range"] == "today" else asked["range"]
        rows = seen.api(f"/forms/{form_id}/trends", range=days, clock=clock)
        by_order = seen.api(f"/forms/{form_id}/trends", range=days)
        differing += rows != by_order
        with in_english(seen):
            sections(page)["Days"].check(
                [
                    [
                        formatting.day(date.fromisoformat(row["date"])),
                        *(
                            formatting.count(row[name])
                            for name in ("views", "starts", "submissions", "orders")
                        ),
                        formatting.money(row["netRevenueCents"], code, exact=True),
                    ]
                    for row in rows
                ]
            )
            visits, revenue = figures(page)
            check_lines(visits, rows, {"Views": "views", "Submissions": "submissions"}, "")
            check_lines(revenue, rows, {"Net revenue": "netRevenueCents"}, code)
        told = (
            "of the orders of each day"
            if clock == "order"
            else "that followed from the submissions"
        )
        assert told in page
    # Else the two clocks would show the same.
    assert clock == "order" or differing


def check_lines(drawing: str, rows: Any, lines: dict[str, str], code: str) -> None:
    """The script's data, the points of the SVG and the labels of its gridlines."""
    (block,) = re.findall(r'<script type="application/json">(.*?)</script>', drawing)
    data = json.loads(block)
    assert data["first"] == rows[0]["date"]
    assert data["currency"] == code
    assert {line["name"]: line["values"] for line in data["lines"]} == {
        name: [row[figure] for row in rows] for name, figure in lines.items()
    }
    low, high = data["low"], data["high"]
    assert low <= min(min(line["values"]) for line in data["lines"])
    assert high >= max(max(line["values"]) for line in data["lines"])
    drawn = [
        [tuple(map(float, point.split(","))) for point in points.split()]
        for points in re.findall(r'<polyline[^>]* points="([^"]*)"', drawing)
    ]
    assert len(drawn) == len(lines)
    for points, line in zip(drawn, data["lines"], strict=True):
        values = line["values"] if len(rows) > 1 else 2 * line["values"]
        assert [y for _, y in points] == pytest.approx(
            [100 * (high - value) / (high - low) if high > low else 100 for value in values],
            abs=0.1,
        )
    labels = texts(drawing, "li")
    step = (high - low) // max(len(labels) - 1, 1)
    assert labels == [
        formatting.short_money(low + place * step, code)
        if code
        else formatting.count(low + place * step)
        for place in range(len(labels))
    ]
    names = re.findall(r'<text class="line-\d"[^>]*>([^<]*)<', drawing)
    assert names == (list(lines) if len(lines) > 1 else [])


def test_a_day_that_is_not_over_is_said(seen: Seen) -> None:
    for path in ("/", f"/forms/{form_ids(seen)[0]}"):
        assert "Today is not over yet." in seen.page(path, range="7d")
        assert "Today is not over yet." not in seen.page(path, range="yesterday")
