"""Laws that the oracle's answers obey in any world, whatever the figures are."""

from random import Random
from typing import Any

import pytest

from tests.support.additive import additive, rows_of, summed
from tests.support.oracle import Oracle, compare
from tests.support.oracle.times import resolve_range
from tests.support.strategies import portions
from tests.support.worlds import World, each, world

SEEDS = range(8)


def everything(world: World, shop_id: str) -> str:
    """The range of the whole world."""
    return world.ranges(shop_id)[2] or ""


def answers(oracle: Oracle, world: World, shop_id: str, range: str) -> list[Any]:
    today = oracle.today(shop_id, world.now)
    return [
        oracle.answer(path, {**query, "range": range}, shop_id, today, world.now)
        for path, query in world.questions(shop_id)
    ]


def test_neither_order_nor_repetition_matters() -> None:
    for seed in each(SEEDS):
        given = world(seed)
        imported: dict[str, list[Any]] = {}
        for kind, rows in portions(given.records, Random(seed)):
            imported.setdefault(kind, []).extend(rows)
        one, other = Oracle(given.records), Oracle(imported)
        for shop_id in given.casts:
            whole = everything(given, shop_id)
            assert answers(one, given, shop_id, whole) == answers(other, given, shop_id, whole)


def test_a_range_is_the_sum_of_its_parts() -> None:
    for seed in each(SEEDS):
        given = world(seed)
        oracle = Oracle(given.records)
        for shop_id in given.casts:
            whole = everything(given, shop_id)
            today = oracle.today(shop_id, given.now)
            first, last = resolve_range(whole, today)
            middle = first + (last - first) / 2
            if middle == last:
                continue
            after = middle.fromordinal(middle.toordinal() + 1)
            parts = (f"{first}..{middle}", f"{after}..{last}")
            for path, query in given.questions(shop_id):
                what = additive(path, query)
                if what:
                    data = [
                        oracle.answer(path, {**query, "range": text}, shop_id, today, given.now)
                        for text in (whole, *parts)
                    ]
                    assert summed(what, data[0]) == summed(what, *data[1:]), (path, query)


def test_shop_wide_reports_add_up_to_the_shop() -> None:
    for seed in each(SEEDS):
        given = world(seed)
        oracle = Oracle(given.records)
        for shop_id in given.casts:
            state = oracle.state(shop_id)
            gross = sum(order.gross for order in state.orders)
            net = sum(order.net for order in state.orders)
            today = oracle.today(shop_id, given.now)
            first = state.day(min((order.at for order in state.orders), default=given.now))
            whole = {"range": f"{first}..{today}"}
            for path, query in (
                ("/v1/attribution", {}),
                ("/v1/attribution/daily", {}),
                ("/v1/revenue/by-utm", {"dimension": "attribution"}),
                ("/v1/revenue/by-utm", {"dimension": "hierarchy"}),
            ):
                rows = rows_of(oracle.answer(path, {**query, **whole}, shop_id, today, given.now))
                assert sum(row["orders"] for row in rows) == len(state.orders)
                assert sum(row["grossRevenueCents"] for row in rows) == gross
                assert sum(row["netRevenueCents"] for row in rows) == net
            rows = rows_of(oracle.answer("/v1/ads/spend", whole, shop_id, today, given.now))
            assert sum(row["attributedOrders"] for row in rows) == len(state.orders)
            assert sum(row["attributedNetRevenueCents"] for row in rows) == net


def test_cross_field_margins_are_sums_of_its_cells() -> None:
    for seed in each(SEEDS):
        given = world(seed, size=30)
        oracle = Oracle(given.records)
        for shop_id in given.casts:
            today = oracle.today(shop_id, given.now)
            for path, query in given.questions(shop_id):
                if path.endswith("/cross-field"):
                    asked = {**query, "range": everything(given, shop_id)}
                    cells = oracle.answer(path, asked, shop_id, today, given.now)
                    total = sum(cell["count"] for cell in cells)
                    for cell in cells:
                        of_a = sum(c["count"] for c in cells if c["valueA"] == cell["valueA"])
                        assert cell["rowPercent"] == pytest.approx(
                            100 * cell["count"] / of_a, abs=0.01
                        )
                        assert cell["totalPercent"] == pytest.approx(
                            100 * cell["count"] / total, abs=0.01
                        )
                        assert 0 <= cell["cramersV"] <= 1


def test_an_answer_does_not_differ_from_itself() -> None:
    for seed in each(SEEDS):
        given = world(seed)
        oracle = Oracle(given.records)
        for shop_id in given.casts:
            today = oracle.today(shop_id, given.now)
            for path, query in given.questions(shop_id):
                if not path.endswith("time-to-complete"):
                    data = oracle.answer(path, query, shop_id, today, given.now)
                    assert compare(path, data, data) == []
