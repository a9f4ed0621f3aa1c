"""The random worlds are what the invariants need: valid, repeatable, and nasty enough."""

import json
from datetime import timedelta

from tests.support.oracle import Oracle
from tests.support.oracle.attribution import TYPES
from tests.support.oracle.orders import version_of
from tests.support.worlds import each, world


def test_a_seed_gives_the_same_world_again() -> None:
    for seed in each(range(5)):
        assert json.dumps(world(seed).records) == json.dumps(world(seed).records)


def test_ids_are_unique_and_versions_never_tie() -> None:
    for seed in each(range(20)):
        records = world(seed).records
        events = [(row["shop_id"], row["event_id"]) for row in records["events"]]
        assert len(set(events)) == len(events)
        versions = [(r["shop_id"], r["order_id"], version_of(r)[0]) for r in records["orders"]]
        assert len(set(versions)) == len(versions)


def test_every_kind_of_credit_and_both_ends_of_the_window_occur() -> None:
    types, ages = set(), set()
    for seed in range(40):
        some = world(seed)
        oracle = Oracle(some.records)
        for shop_id in some.casts:
            state = oracle.state(shop_id)
            for order in state.orders:
                credit = state.credits[order.id]
                types.add(credit.type)
                if credit.session and credit.session.submitted_at:
                    ages.add(order.at - credit.session.submitted_at)
    assert types == set(TYPES)
    assert {timedelta(), timedelta(hours=24 * 30)} <= ages
