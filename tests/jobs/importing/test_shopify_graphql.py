"""Shopify's orders in answers of the GraphQL Admin API, which come to the same rows as a bulk operation."""

import json
from typing import Any, Final

import pytest

from tests.support.import_files import SAMPLES
from tests.support.warehouse import Warehouse

SHOP: Final = "a.example"
_NAMES: Final = {
    "Metafield": "metafields",
    "LineItem": "lineItems",
    "ShippingLine": "shippingLines",
    "Return": "returns",
    "ReturnLineItem": "returnLineItems",
    "Refund": "refunds",
    "OrderTransaction": "transactions",
    "DiscountApplication": "discountApplications",
}


def stored(warehouse: Warehouse) -> list[dict[str, Any]]:
    left_out = ("batch_id", "raw_order_id")
    rows = warehouse.records("SELECT * FROM raw_order ORDER BY order_id")
    return [{name: value for name, value in row.items() if name not in left_out} for row in rows]


def nested() -> list[dict[str, Any]]:
    """The orders of the bulk sample with their parts in them, as a query answers."""
    read = [
        json.loads(line)
        for line in (SAMPLES / "shopify-bulk.jsonl").read_text().splitlines()
        if line
    ]
    orders = {one["id"]: one for one in read if "__parentId" not in one}
    by_id = {one["id"]: one for one in read if "id" in one}
    parent_of = {one["id"]: one.get("__parentId", "") for one in read if "id" in one}
    for part in read:
        parent = by_id.get(part.pop("__parentId", ""))
        if parent is not None:
            without_id = "ShippingLine" if "title" in part else "DiscountApplication"
            kind = part["id"].split("/")[3] if "id" in part else without_id
            # The API lists the refund of a return among those of its order.
            parent = (
                orders.get(parent_of.get(parent.get("id", ""), ""), parent)
                if kind == "Refund"
                else parent
            )
            parent.setdefault(_NAMES[kind], []).append(part)
    return list(orders.values())


def connected(orders: list[dict[str, Any]], form: str) -> list[dict[str, Any]]:
    """Lists of parts as connections; refunds stay lists, as the API has them."""

    def connection(items: list[Any]) -> dict[str, Any]:
        page = {"pageInfo": {"hasNextPage": False}}
        if form == "nodes":
            return {"nodes": items} | page
        return {"edges": [{"node": item, "cursor": "c"} for item in items]} | page

    made = []
    for order in orders:
        copy = json.loads(json.dumps(order))
        for name in ("lineItems", "shippingLines", "discountApplications"):
            if name in copy:
                copy[name] = connection(copy[name])
        for refund in copy.get("refunds", []):
            if "transactions" in refund:
                refund["transactions"] = connection(refund["transactions"])
        made.append(copy)
    return made


def answers(form: str) -> list[Any]:
    orders = connected(nested(), form)
    if form == "order":
        return [{"data": {"order": order}} for order in orders]
    if form == "nodes":
        return [{"data": {"orders": {"nodes": orders}}}]
    edges = [{"cursor": "c", "node": order} for order in orders]
    page = {"edges": edges, "pageInfo": {"hasNextPage": False, "endCursor": "x"}}
    return [{"data": {"orders": page}, "extensions": {"cost": {"requestedQueryCost": 52}}}]


@pytest.mark.parametrize("form", ["edges", "nodes", "order"])
@pytest.mark.parametrize("indent", [None, 2])
def test_answers_come_to_the_rows_of_a_bulk_operation(
    sqlite_warehouse: Warehouse, form: str, indent: int | None
) -> None:
    sqlite_warehouse.take_file("orders", SAMPLES / "shopify-bulk.jsonl", SHOP)
    rows = stored(sqlite_warehouse)
    sqlite_warehouse.change("DELETE FROM raw_order")
    path = sqlite_warehouse.folder / "answer.json"
    path.write_text("\n".join(json.dumps(answer, indent=indent) for answer in answers(form)))
    # By itself, without its format being named.
    counts = sqlite_warehouse.take_file("orders", path, SHOP)
    assert (counts["read"], counts["new"]) == (6, 4)
    assert stored(sqlite_warehouse) == rows


@pytest.mark.parametrize("page", [{"edges": []}, {"nodes": [], "pageInfo": {"hasNextPage": False}}])
def test_an_answer_without_orders(sqlite_warehouse: Warehouse, page: dict[str, Any]) -> None:
    path = sqlite_warehouse.folder / "answer.json"
    path.write_text(json.dumps({"data": {"orders": page}}))
    assert sqlite_warehouse.take_file("orders", path)["read"] == 0
