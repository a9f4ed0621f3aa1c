"""Sessions with more questions, and answers with more choices, than count: the same ones count whatever came
first, in whatever portions, and beside the answers of honest visitors."""

import json
from collections.abc import Sequence
from datetime import date
from random import Random
from typing import Any

import pytest

from jobs.facts import touched
from tests.bench.processes import run
from tests.support.import_files import written
from tests.support.job_commands import Commands
from tests.support.oracle import Oracle, compare
from tests.support.oracle.making import FORM, MARCH, SHOP, TODAY, answered, order, submission
from tests.support.oracle.records import Row
from tests.support.product import Product
from warehouse.domain.vocabulary import MOST_CHOICES, MOST_QUESTIONS

# A job without work takes some 150 MB, and the batch of such a file 300 more.
MOST_MB = 700
CROSSED = f"/v1/forms/{FORM}/cross-field"
REVENUE = f"/v1/forms/{FORM}/response-revenue"


def records(events: list[Row], orders: Sequence[Row] = ()) -> dict[str, list[Row]]:
    return {
        "shops": [{"shop_id": SHOP, "currency": "EUR"}],
        "forms": [{"form_id": FORM, "shop_id": SHOP, "name": "Form"}],
        "events": events,
        "orders": [*orders],
    }


def choose(rng: Random, session: str, questions: int, most: int) -> list[Row]:
    """A submission with so many questions, some of them free texts, of up to so many choices each."""
    rows = [submission(session, "2")]
    for question in rng.sample(range(questions + 20), questions):
        field, kind = f"q{question}", rng.choice(["choice", "multi_choice", "multi_choice", "text"])
        choices = rng.sample("abcdefghijklmnopqrstuvwxyzäöüß😀", rng.randint(1, most))
        rows.append(answered(session, "1", field, choices if kind == "multi_choice" else "a", kind))
    return rows


def check(
    product: Product,
    events: list[Row],
    asked: list[tuple[str, dict[str, str]]],
    orders: Sequence[Row] = (),
) -> None:
    oracle = Oracle(records(events, orders))
    for path, query in asked:
        status, answer = product.get(path, {"range": MARCH} | query, SHOP)
        assert status == 200
        expected = oracle.answer(path, {"range": MARCH} | query, SHOP, TODAY)
        assert not compare(path, expected, answer["data"]), (path, query)


@pytest.mark.parametrize("seed", range(2))
def test_the_first_answers_count_in_any_order_and_portions(product: Product, seed: int) -> None:
    rng = Random(seed)
    events = [
        row
        for n, (questions, most) in enumerate([(3, 4), (30, 3), (24, 30), (8, 31), (3, 4)])
        for row in choose(rng, f"s{n}", questions, most)
    ]
    # Some questions of this session never count; they come apart.
    events += choose(rng, "long", MOST_QUESTIONS + 15, 2)
    fields = sorted({row["field_id"] for row in events if "field_id" in row})
    pairs = [rng.sample(fields, 2) for _ in range(20)] + [fields[:2], fields[18:20], fields[20:22]]
    asked = [(CROSSED, {"fieldA": a, "fieldB": b}) for a, b in pairs] + [(REVENUE, {})]
    for kind in ("shops", "forms"):
        product.load(kind, records([])[kind])
    rng.shuffle(events)
    third = -(-len(events) // 3)
    for part in range(3):
        product.load("events", events[part * third : (part + 1) * third])
        if rng.random() < 0.5:
            product.rollup()
    product.rollup()
    check(product, events, asked)
    assert product.verify_all()
    product.rebuild()
    check(product, events, asked)


def test_a_poisoned_session_costs_honest_ones_nothing(product: Product) -> None:
    """All comes in one file, and is in one batch."""
    honest = [
        row
        for session in ("one", "two")
        for row in (
            submission(session, "2"),
            answered(session, "1", "colour", "red"),
            answered(session, "1", "size", "L"),
        )
    ]
    many = [str(n) for n in range(650)]
    poison = [submission("bad", "2")]
    poison += [answered("bad", "1", f"q{n:03}", many, "multi_choice") for n in range(12)]
    wide = [submission("wide", "2")]
    wide += [
        answered("wide", "1", f"w{n:03}", many[:MOST_CHOICES], "multi_choice")
        for n in range(MOST_QUESTIONS + 30)
    ]
    for kind in ("shops", "forms"):
        product.load(kind, records([])[kind])
    # Each counts under every choice of the submission that it is credited to.
    orders = [
        order(f"o{n}", "3", 1000 + n, visitor_id=f"visitor of {session}")
        for session in ("one", "wide")
        for n in (range(2) if session == "one" else range(2, 8))
    ]
    product.load("orders", orders)
    product.load("events", poison[:7] + honest + poison[7:] + wide, rejected=12 + 30)
    product.rollup()
    asked = [
        (CROSSED, {"fieldA": a, "fieldB": b})
        for a, b in (("colour", "size"), ("w000", "w001"), ("w000", "w005"), ("q000", "q001"))
    ]
    kept = [*honest, poison[0], *wide[: MOST_QUESTIONS + 1]]
    check(product, kept, [*asked, (REVENUE, {})], orders)
    assert product.verify_all()


def test_a_batch_of_long_lists_weighs_more_than_its_rows(commands: Commands) -> None:
    commands.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    choices = [*range(MOST_CHOICES)]
    lists = [answered(f"s{n}", "1", "q", choices, "multi_choice") for n in range(50)]
    commands.take("events", lists)
    commands.take("events", [answered(f"t{n}", "1", "q", "one") for n in range(50)])
    rows = commands.records("SELECT rows, weight FROM import_batch ORDER BY batch_id")
    assert [(row["rows"], row["weight"]) for row in rows] == [(50, 50 * 100), (50, 50)]


def test_long_lists_of_a_file_are_in_several_batches_and_a_session_in_one(
    commands: Commands,
) -> None:
    commands.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    choices = [*range(MOST_CHOICES)]
    lists = [
        answered(f"s{n}", "1", field, choices, "multi_choice")
        for n in range(1_050)
        for field in ("a", "b")
    ]
    commands.take("events", lists)
    batches = commands.records("SELECT rows, weight FROM import_batch")
    assert len(batches) == 2
    assert sum(batch["rows"] for batch in batches) == len(lists)
    assert all(batch["weight"] == batch["rows"] * MOST_CHOICES <= 200_000 for batch in batches)
    assert commands.rows(
        "SELECT COUNT(DISTINCT form_session_id) FROM raw_event GROUP BY batch_id ORDER BY 1"
    ) == sorted(batch["rows"] // 2 for batch in batches)
    stored = "SELECT COUNT(*) FROM raw_event r WHERE r.batch_id = b.batch_id"
    wrong = f"SELECT COUNT(*) FROM import_batch b WHERE b.rows <> ({stored})"
    assert commands.rows(wrong) == [0]


def test_pairs_that_are_all_different_fit_into_memory(commands: Commands) -> None:
    """Refresh after refresh more of them go to one stored cell."""
    commands.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    choices, sessions, peaks = 20, 300, []
    for time in range(3):
        rows = []
        for n in range(time * sessions, (time + 1) * sessions):
            own = [f"{n}-{choice}" for choice in range(choices)]
            rows.append(submission(f"s{n}", "2"))
            rows += [answered(f"s{n}", "1", field, own, "multi_choice") for field in ("a", "b")]
        commands.take("events", rows)
        peaks.append(run(commands.url, "jobs", "rollup").peak_mb)
    lines = 3 * sessions * choices**2
    parts = commands.rows("SELECT LENGTH(packed_dims) FROM daily_cross_field ORDER BY part")
    assert sum(parts) == 24 * lines
    assert len(parts) == 3
    assert max(parts) <= 4 << 20
    day = ["--from", "2024-03-02", "--to", "2024-03-02"]
    for words in (["verify", "--sample", "1"], ["backfill", *day]):
        peaks.append(run(commands.url, "jobs", *words).peak_mb)
    assert max(peaks) < MOST_MB
    assert sum(commands.rows("SELECT LENGTH(packed_dims) FROM daily_cross_field")) == 24 * lines


def test_few_rows_that_touch_much_are_applied_in_parts(
    product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second event of each of many long sessions has all of them read again: in parts of a few, within the
    transaction of the batch."""
    monkeypatch.setattr(touched, "ROWS_AT_ONCE", 60)
    rng = Random(7)
    sessions = [f"s{n}" for n in range(8)]
    events = [row for session in sessions for row in choose(rng, session, 12, 6)]
    more = [answered(session, "1", "later", ["x", "y"], "multi_choice") for session in sessions]
    orders = [order(f"o{n}", "3", 500 + n, visitor_id=f"visitor of s{n}") for n in range(8)]
    for kind in ("shops", "forms"):
        product.load(kind, records([])[kind])
    for rows in (events, more):
        product.load("events", rows)
        product.load("orders", orders)
        product.rollup()
    asked = [(CROSSED, {"fieldA": "later", "fieldB": f"q{n}"}) for n in range(32)]
    asked += [(REVENUE, {}), (f"/v1/forms/{FORM}/funnel", {})]
    check(product, events + more, asked, orders)
    assert product.verify_all()
    product.backfill(date(2024, 3, 1), date(2024, 3, 31))
    check(product, events + more, asked, orders)


def test_what_is_rejected_says_why(commands: Commands) -> None:
    commands.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    rows: list[dict[str, Any]] = [answered("s", "1", "q", [*range(101)], "multi_choice")]
    rows += [answered("t", "1", f"q{n:03}", "x") for n in range(MOST_QUESTIONS, -1, -1)]
    rows += [answered("u", "1", f"q{n:03}", "x") for n in range(MOST_QUESTIONS)]
    rows += [answered("u", "1", "many", ["x"] * 500 + ["y"], "multi_choice")]
    file = written(commands.folder / "events.ndjson", rows)
    commands("import", "events", str(file), status=3)
    listed = [json.loads(line) for line in commands("rejects", "--json").splitlines()]
    assert sorted((row["reason"], json.loads(row["text"])["field_id"]) for row in listed) == [
        ("field_id: beyond the first 199 questions of its form session", "q198"),
        ("field_id: beyond the first 199 questions of its form session", "q199"),
        ("value: 101 choices; an answer has at most 100", "q"),
    ]
