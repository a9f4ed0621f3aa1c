"""Figures of forms that tracking calls name by ids of their own."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.product import Product
from tests.support.stage import SHOP, B
from warehouse.domain.hash_ids import form_id_of

POPUP = form_id_of(SHOP, "segment", "popup-1")
RANGE = {"range": "2026-01-01..2026-01-31"}


def call(event: str, form_id: Any, session: str, second: int, **more: Any) -> dict[str, Any]:
    return {
        "type": "track",
        "event": event,
        "messageId": f"{session}{second}",
        "anonymousId": session,
        "timestamp": f"2026-01-02T03:00:{second:02d}Z",
        "properties": {"form_id": form_id, "form_session_id": session, **more},
    }


CALLS = [
    call("Form Viewed", "popup-1", "a", 1, formName="Old"),
    call("Form Viewed", "popup-1", "b", 2, formName="Pop-up"),
    call("Form Completed", "popup-1", "a", 3),
    call("Form Viewed", B, "c", 4),
]


@pytest.mark.parametrize("files", [[CALLS], [CALLS[2:], CALLS[:1], CALLS[1:2]]])
@pytest.mark.parametrize("row_comes", ["never", "first", "last"])
def test_figures_of_a_form_with_a_foreign_id(
    warehouse_url: str, tmp_path: Path, files: list[list[dict[str, Any]]], row_comes: str
) -> None:
    product = Product(warehouse_url)
    product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    row = {"form_id": POPUP, "shop_id": SHOP, "name": "By hand", "updated_at": "2020-01-01"}
    if row_comes == "first":
        product.load("forms", [row])
    for calls in files:
        file = tmp_path / "calls.ndjson"
        file.write_text("".join(json.dumps(one) + "\n" for one in calls))
        product.take("events", [file])
    if row_comes == "last":
        product.load("forms", [row])
    product.rollup()
    name = "Pop-up" if row_comes == "never" else "By hand"
    status, body = product.get("/v1/forms/funnel", RANGE, SHOP)
    assert status == 200
    figures = [tuple(row.values()) for row in body["data"]]
    assert figures == [(POPUP, name, 2, 0, 1), (B, B, 1, 0, 0)]
    status, body = product.get(f"/v1/forms/{POPUP}/funnel", RANGE, SHOP)
    assert status == 200
    data = body["data"]
    assert (data["formName"], data["views"], data["completions"]) == (name, 2, 1)
    product.close()
