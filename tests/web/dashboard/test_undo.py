"""Imports are undone on the Data page: which figures would move is said before it is done."""

import re
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest

from tests.support.import_files import FORM, event, form, order, spend
from tests.support.people import Browser, add_member
from tests.support.product import Product
from tests.support.shop_builder import known_shop
from tests.web.dashboard.two_shops import HTML, PATH, ZONES, A, B, TwoShops
from warehouse.domain.time import MICROS_PER_DAY, iso_millis, local_time, to_micros
from warehouse.operations.process_id import new_owner

GIFTS = FORM.replace("0190", "0191")
TABLES = ("raw_event", "raw_order", "ad_spend", "form")


def ask(two: TwoShops, number: int, shop: str = A, **fields: str) -> Any:
    """The answer to one of the two forms."""
    browser = two.browsers[shop]
    sent = browser.form(PATH) | {"import": str(number)} | fields
    return browser.client.post("/data/undo", data=sent, headers=HTML)


def facts(page: str) -> dict[str, str]:
    """The facts of a page about what an undo moves: texts by their names."""
    part = page.partition("data-reach>")[2].partition("</dl>")[0]
    found = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", part, re.DOTALL)
    return {name: unescape(" ".join(re.sub(r"<[^>]*>", "", text).split())) for name, text in found}


def last_import(two: TwoShops) -> int:
    (row,) = two.rows("SELECT MAX(import_id) AS id FROM import_file")
    return int(row.id)


def state_of(two: TwoShops, number: int) -> str:
    (row,) = two.rows(f"SELECT state FROM import_file WHERE import_id = {number}")
    return str(row.state)


def story(two: TwoShops) -> dict[str, int]:
    """Imports of each kind by their numbers: an order of a person who had submitted a form."""
    numbers = {}
    at = "2026-10-31T23:30:00Z"
    code = {"discount_code": "MINE", "visitor_id": "v"}
    kinds: dict[str, list[Any]] = {
        "forms": [form(name="<b>Gifts</b>", form_id=GIFTS)],
        "events": [
            event(event_id="1", form_id=GIFTS, type="subscribe", occurred_at=at, **code),
            event(event_id="2", form_id=GIFTS, occurred_at="2026-11-02T00:00:00Z"),
        ],
        "orders": [
            order(
                order_id="o1",
                created_at="2026-11-03T12:00:00Z",
                discount_codes=[{"code": "MINE"}],
                visitor_id="v",
            )
        ],
        "ad-spend": [spend(date="2026-11-04"), spend(date="2026-11-06")],
    }
    for kind, rows in kinds.items():
        two.load(kind, rows)
        numbers[kind] = last_import(two)
    two.jobs("rollup")
    return numbers


def test_each_says_what_would_move_and_is_undone(two: TwoShops) -> None:
    numbers = story(two)
    revenue = 'data-figure="netRevenueCents" data-value="'
    said = {kind: ask(two, number).get_data(as_text=True) for kind, number in numbers.items()}
    assert {state_of(two, number) for number in numbers.values()} == {"done"}
    assert "<b>Gifts" not in "".join(said.values())
    events = facts(said["events"])
    # The days are the shop's, which is an hour ahead.
    assert (events["Days"], events["Forms"]) == ("Nov 1, 2026 to Nov 2, 2026", "<b>Gifts</b>")
    assert "Orders up to 30 days after them are credited anew" in events["Figures"]
    orders = facts(said["orders"])
    assert (orders["Days"], orders["Credited to"]) == ("Nov 3, 2026", "<b>Gifts</b>")
    ads = facts(said["ad-spend"])
    assert (ads["Days"], ads["Platforms"]) == ("Nov 4, 2026 to Nov 6, 2026", "meta")
    forms = facts(said["forms"])
    assert forms["Forms"] == "<b>Gifts</b>"
    assert forms["Figures"].startswith("No count and no amount.")
    day = two.page(A, "/?range=2026-11-03&compare=none")
    assert f'{revenue}0"' not in day.partition("card-of")[2].partition("</li>")[0]
    for number in numbers.values():
        asked = ask(two, number, confirmed="1")
        assert (asked.status_code, asked.location) == (303, "/data#imports")
        assert state_of(two, number) == "undoing"
    assert "The next refresh undoes this import." in two.page(A)
    states = [line[-2] for line in two.section(A, "Last imports").tables[0]]
    assert all("is being undone" in state for state in states)
    two.jobs("rollup", "--refresh")
    assert {state_of(two, number) for number in numbers.values()} == {"undone"}
    for table in TABLES:
        key = known_shop(two.engine, A).key
        assert two.rows(f"SELECT 1 FROM {table} WHERE shop_key = {key}") == []
    trail = two.rows("SELECT actor, detail FROM audit_event WHERE action = 'file_undone'")
    assert trail == [(f"ada@{A}", "the file of both.ndjson")] * len(numbers)


def test_until_figures_are_built_anew_they_are_as_before(
    two: TwoShops, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages say since when that is so, in the time of the shop, and `meta` too."""
    two.load("orders", [order(order_id="stays")])
    two.load("orders", [order(visitor_id="v")])
    number = last_import(two)
    two.jobs("rollup")
    product = Product(two.url)

    def answer() -> Any:
        days = {"range": "2026-01-01..2026-02-01"}
        status, body = product.get("/v1/attribution", days, A)
        product.close()
        assert status == 200
        return body

    before = answer()
    assert "recomputingSince" not in before["meta"]
    ask(two, number, confirmed="1")
    with monkeypatch.context() as patch:
        # A batch that fails: the new figures are never complete.
        patch.setattr("jobs.pipeline.apply_batch.apply", fail)
        two.jobs("rollup", "--refresh")
    assert two.rows("SELECT order_id FROM raw_order") == [("stays",)]
    assert (state_of(two, number), answer()["data"]) == ("undoing", before["data"])
    since = answer()["meta"]["recomputingSince"]
    (edition,) = two.rows("SELECT outdated_at FROM edition WHERE state = 'frozen'")
    assert since == iso_millis(edition.outdated_at)
    table = product.ask("GET", "/v1/attribution?format=csv", A)
    assert table.headers["X-Recomputing-Since"] == since
    product.close()
    shown = local_time(edition.outdated_at, ZONES[A])
    pages = [two.page(A, path) for path in (PATH, "/")]
    assert all(f'Recomputing since <time datetime="{shown.isoformat()}">' in page for page in pages)
    assert "Recomputing since" not in two.page(B)
    two.jobs("rollup")
    assert state_of(two, number) == "undone"
    assert "recomputingSince" not in answer()["meta"]
    assert "Recomputing since" not in two.page(A)
    assert answer()["data"] != before["data"]


def fail(*_: object) -> None:
    raise ValueError("not this time")


def test_what_moves_nothing_is_not_offered(two: TwoShops) -> None:
    """An import whose rows were there already, or were all refused. Once the import that brought them is
    undone, they are left to the one that repeated them."""

    def offered() -> list[int]:
        return [int(each) for each in re.findall(r'name="import" value="(\d+)"', two.page(A))]

    two.load("orders", [order()])
    first = last_import(two)
    two.load("orders", [order()])
    again = last_import(two)
    two.load("orders", [order(order_id="wrong", currency="what")])
    two.load("ad-spend", [spend()])
    spent = last_import(two)
    two.load("ad-spend", [spend(spend="99.00")])
    replaced = last_import(two)
    assert offered() == [replaced, spent, first]
    two.jobs("imports", "undo", str(first))
    assert offered() == [replaced, spent, again]
    two.jobs("imports", "undo", str(again))
    assert two.rows("SELECT order_id FROM raw_order") == []
    assert offered() == [replaced, spent]


@pytest.mark.parametrize("confirmed", [{}, {"confirmed": "1"}])
def test_what_cannot_be_undone(two: TwoShops, confirmed: dict[str, str]) -> None:
    """Nothing of another shop, nothing with rows of several, nothing that is old, purged or undone."""
    two.load("orders", [order(order_id="theirs", shop_id=B)])
    theirs = last_import(two)
    two.load("events", [event(event_id="a"), event(event_id="b", shop_id=B)])
    both = last_import(two)
    two.load("orders", [order(order_id="old")])
    old = last_import(two)
    past = 31 * MICROS_PER_DAY
    two.change(f"UPDATE import_file SET started_at = started_at - {past} WHERE import_id = {old}")
    two.load("events", [event(event_id="c")])
    purged = last_import(two)
    two.change(f"UPDATE import_batch SET purged = 1 WHERE import_id = {purged}")
    two.load("orders", [order(order_id="undone")])
    undone = last_import(two)
    two.jobs("imports", "undo", str(undone))
    before = two.rows("SELECT import_id, state FROM import_file ORDER BY import_id")
    for number in (theirs, both, old, purged, undone, 10**17):
        answer = ask(two, number, **confirmed)
        assert (answer.status_code, answer.location) == (303, "/data#imports"), number
        assert "This import can no longer be undone." in two.page(A)
    for text in ("", "x", "-1", "1 OR 1=1", "9" * 40, "٣"):
        assert ask(two, 0, **{"import": text}, **confirmed).status_code == 303
    assert two.rows("SELECT import_id, state FROM import_file ORDER BY import_id") == before
    assert ask(two, theirs, B).status_code == 200


def test_who_may(two: TwoShops) -> None:
    two.load("orders", [order()])
    number = last_import(two)
    add_member(two.engine, known_shop(two.engine, A), "eve@mail.example", ("forms:edit",))
    eve = Browser(two.app.test_client()).signed_in("eve@mail.example")
    fields = eve.form("/settings/account") | {"import": str(number), "confirmed": "1"}
    assert eve.client.post("/data/undo", data=fields, headers=HTML).status_code == 403
    two.browsers[A].get(PATH)
    without = {"import": str(number), "confirmed": "1"}
    assert two.browsers[A].client.post("/data/undo", data=without, headers=HTML).status_code == 400
    assert state_of(two, number) == "done"


def test_rows_that_an_import_that_runs_brings_are_left_to_it(two: TwoShops) -> None:
    """An import whose process lives cannot be undone; one whose process died can."""
    two.load("orders", [order()])
    number = last_import(two)
    two.change(f"UPDATE import_file SET state = 'running' WHERE import_id = {number}")
    (run,) = two.rows(f"SELECT run_id FROM import_file WHERE import_id = {number}")
    own = f"state = 'running', owner = '{new_owner()}', seen_at = {to_micros(datetime.now(UTC))}"
    two.change(f"UPDATE job_run SET {own} WHERE run_id = {run.run_id}")
    assert ask(two, number).status_code == 303
    two.change(f"UPDATE job_run SET seen_at = 1 WHERE run_id = {run.run_id}")
    assert ask(two, number).status_code == 200
