"""Answers about a world: the questions worth asking, and where the answers are not the oracle's."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.support.oracle import Oracle, compare
from tests.support.oracle.records import Row
from tests.support.product import Product
from tests.support.worlds import World

Question = tuple[str, str, dict[str, str]]
"""Shop, path and query."""


def questions_about(given: World) -> Iterator[Question]:
    """Shop, path and query of everything worth asking about a world."""
    for shop_id in given.casts:
        for path, query in given.questions(shop_id):
            for text in given.ranges(shop_id):
                yield shop_id, path, {**query, "range": text} if text else query


def differences(product: Product, given: World, records: dict[str, list[Row]]) -> list[str]:
    """Where the product's answers about a world are not the oracle's."""
    return wrong_answers(product, questions_about(given), records)


def wrong_answers(
    product: Product, questions: Iterable[Question], records: dict[str, list[Row]]
) -> list[str]:
    """Where the product's answers to questions (shop, path, query) are not the oracle's."""
    oracle = Oracle(records, limits=product.limits)
    found = []
    for shop_id, path, query in questions:
        now = datetime.now(UTC)
        today = oracle.today(shop_id, now)
        status, body = product.get(path, query, shop_id)
        if oracle.today(shop_id, datetime.now(UTC)) != today:
            continue  # The shop's midnight has passed in between: neither day is wrong.
        if status != 200:
            found.append(f"{shop_id} {path} {query}: status {status} {body}")
            continue
        window = oracle.window(query, shop_id, today)
        if body["meta"]["range"] != window or not oracle.describes(
            shop_id, body["meta"], query, today
        ):
            found.append(f"{shop_id} {path} {query}: expected {window}, got {body['meta']}")
        expected = oracle.limited(path, query, shop_id, today, now)
        if body["meta"].get("otherRows", 0) != expected.other_rows:
            found.append(f"{shop_id} {path} {query}: {expected.other_rows=}, got {body['meta']}")
        found += [
            f"{shop_id} {path} {query}: {difference}"
            for difference in compare(path, expected.data, body["data"])
        ]
    return found


def assert_answers(product: Product, given: World, when: str) -> None:
    found = differences(product, given, given.records)
    assert not found, "\n".join([f"{when}: {len(found)} differences", *found[:40]])


def days_of(given: World) -> tuple[date, date]:
    """Days that hold everything of a world, in any timezone."""
    starts = [at for cast in given.casts.values() for at in cast.moments]
    return min(starts).date() - timedelta(days=1), given.now.date() + timedelta(days=1)


def answers(product: Product, given: World) -> dict[str, Any]:
    """Status and data of everything worth asking, by question."""
    found = {}
    for shop_id, path, query in questions_about(given):
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
