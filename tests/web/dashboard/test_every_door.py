"""The same figure by every door: the API, its CSV, the page, the assistant, and the sums of the receipts."""

import csv
import io
from typing import Any

import pytest

from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.page_figures import figures
from tests.web.mcp.asking import VERSIONS, call
from warehouse.domain.vocabulary import ATTRIBUTION_TYPES

NAMES = ("orders", "grossRevenueCents", "totalRefundedCents", "netRevenueCents")
Sums = dict[str, dict[str, int]]


@pytest.mark.parametrize("text", ["30d", "90d"])
def test_revenue_by_its_credit(seen: Seen, text: str) -> None:
    dates = [row["date"] for row in seen.api("/attribution/daily", range=text)]
    days = f"{dates[0]}..{dates[-1]}"
    by_api = sums(seen.api("/attribution", range=days))
    assert any(row["orders"] for row in by_api.values())
    table = seen.product.ask("GET", "/v1/attribution", seen.shop_id, query_string=_csv(days)).text
    assert sums(csv.DictReader(io.StringIO(table))) == by_api
    for version in VERSIONS:
        asked = {"report": "attribution", "range": days}
        result, _ = call(seen.product, seen.shop_id, "ask_report", version, **asked)
        assert sums(result["structuredContent"]["data"]) == by_api
    assert by_receipts(seen, days) == by_api
    shown = by_page(seen, text)
    assert shown
    for (kind, name), value in shown.items():
        assert by_api[kind][name] == value, (kind, name)


def _csv(days: str) -> dict[str, str]:
    return {"range": days, "format": "csv"}


def sums(rows: Any) -> Sums:
    return {row["attributionType"]: {name: int(row[name]) for name in NAMES} for row in rows}


def by_page(seen: Seen, text: str) -> dict[tuple[str, str], float]:
    """The figures of the table by credit: by their row and name."""
    page = figures(seen.page("/revenue", range=text, compare="none"))
    return {
        (figure.row["row"], figure.name): figure.now
        for figure in page
        if figure.row.get("row") in ATTRIBUTION_TYPES and figure.name in NAMES
    }


def by_receipts(seen: Seen, days: str) -> Sums:
    """The sums of all orders of each credit, page by page."""
    found: Sums = {}
    for kind in ATTRIBUTION_TYPES:
        query = {"range": days, "type": kind, "limit": "200"}
        rows: list[Any] = []
        while True:
            status, body = seen.product.get("/v1/orders", query, seen.shop_id)
            assert status == 200
            rows += body["data"]
            if not body["meta"]["nextCursor"]:
                break
            query["cursor"] = body["meta"]["nextCursor"]
        money = {name: sum(row[name] for row in rows) for name in NAMES[1:]}
        found[kind] = {"orders": len(rows), **money}
    return found
