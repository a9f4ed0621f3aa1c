"""All answers of a warehouse about a world, to be compared with those of another."""

from typing import Any

from tests.product import Product
from tests.test_invariants import asked
from tests.worlds import World


def answers(product: Product, given: World) -> dict[str, Any]:
    """Status and data of everything worth asking, by question."""
    found = {}
    for shop_id, path, query in asked(given):
        status, body = product.get(path, query, shop_id)
        found[f"{shop_id} {path} {query}"] = status, body.get("data", body)
    return found


def differing(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """The questions that are answered in different ways, with both answers."""
    return [
        f"{question}: {ours[question]} instead of {theirs[question]}"[:600]
        for question in theirs
        if ours[question] != theirs[question]
    ]
