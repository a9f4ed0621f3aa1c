"""`explain` lists facts that add up to the stored rows, and to the API's answer for the day."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import pyarrow as pa
import pytest

from jobs.explaining.asked import FILTERS, SUMMARIES_OF, measures_of, summaries_of
from jobs.explaining.contributions import EVENTS, contributions
from jobs.explaining.explain import explain
from tests.support.clients import statements
from tests.support.fixtures import Loaded
from tests.support.import_files import event as event_row
from tests.support.import_files import order
from tests.support.product import Product
from tests.support.worlds import World, world
from warehouse.catalogue import SUMMARIES, SUMMARY
from warehouse.connections.arrow import ArrowConnection
from warehouse.daily.writer import rows_of_spans, sum_rows
from warehouse.domain.time import day_number
from warehouse.domain.vocabulary import ATTRIBUTION_TYPES, CUSTOMER_TYPES
from warehouse.editions.editions import CURRENT, list_editions
from warehouse.migrations.migrate import open_migrated
from web.api.filters import NAMES
from web.reports import READABLE

SOME = world(7, size=60)
FORM = "11111111-1111-4111-8111-111111111111"
SHOP = "a.example"
DAY = date(2026, 1, 2)
MONEY = {"orders": "orders", "grossRevenueCents": "gross", "totalRefundedCents": "refunded"}


@pytest.fixture
def some(loaded: Loaded) -> Iterator[Product]:
    product = Product(loaded(SOME))
    yield product
    product.close()


@contextmanager
def opened(product: Product) -> Iterator[ArrowConnection]:
    # A process has a SQLite file open as a job or as the API, never as both.
    product.close()
    with open_migrated(product.url) as connection:
        yield connection


def days_of(some: World, last: int = 2) -> list[tuple[str, date]]:
    """Each shop with its last days."""
    return [(shop, day) for shop, cast in some.casts.items() for day in cast.days[-last:]]


def explained(
    product: Product,
    endpoint: str,
    shop: str,
    day: date,
    form: str = "",
    field: str = "",
) -> list[dict[str, Any]]:
    with opened(product) as connection:
        found = explain(connection, endpoint, shop, day_number(day), form, field, 1_000)
    summaries: list[dict[str, Any]] = found["summaries"]
    return summaries


def sums(rows: list[dict[str, Any]], names: list[str]) -> dict[str, int]:
    return {name: sum(row[name] for row in rows) for name in names}


def test_facts_add_up_to_the_rows_of_every_summary(some: Product) -> None:
    seen = set()
    with opened(some) as connection:
        for shop, day in days_of(SOME, 8):
            seen |= add_up(connection, shop, day_number(day))
    assert seen == set(SUMMARY)


def add_up(connection: ArrowConnection, shop: str, number: int) -> set[str]:
    """Compare facts and stored rows of a day; the summaries that have any."""
    seen = set()
    [edition] = list_editions(connection, CURRENT, shop)
    for found in contributions(connection, edition, number, SUMMARIES):
        summary = found.summary
        span = pa.table({"edition": [edition.edition], "first": [number], "last": [number]})
        stored = rows_of_spans(connection, summary, span)
        ours = found.rows.assign(edition=edition.edition)
        added = pa.table({name: ours[name].to_numpy() for name in summary.columns})
        assert rows_in(sum_rows(summary, added)) == rows_in(stored), (summary.name, shop, number)
        units = {*found.rows["edition"].tolist()} - {EVENTS}
        assert units <= found.sessions.keys() | found.orders.keys()
        if stored.num_rows:
            seen.add(summary.name)
    return seen


def rows_in(table: pa.Table) -> set[tuple[int, ...]]:
    rows = {tuple(row.values()) for row in table.to_pylist()}
    assert len(rows) == table.num_rows
    return rows


def test_they_are_the_answer_of_the_api(some: Product) -> None:
    for shop, day in days_of(SOME):

        def answer(path: str) -> Any:
            status, body = some.get(path, {"range": f"{day}"}, shop)  # noqa: B023
            assert status == 200, body
            return body["data"]

        def of(path: str, summary: str, form: str = "") -> list[dict[str, Any]]:
            found = {one["summary"]: one for one in explained(some, path, shop, day, form)}  # noqa: B023
            return [row for fact in found[summary]["facts"] for row in fact["adds"]]

        for path, words, name in (
            ("/v1/attribution", ATTRIBUTION_TYPES, "type"),
            ("/v1/revenue/new-returning", CUSTOMER_TYPES, "customer_type"),
        ):
            added = of(path, SUMMARIES_OF[path.removeprefix("/v1")][0])
            for word, row in zip(words, answer(path), strict=True):
                own = sums([each for each in added if each[name] == word], list(MONEY.values()))
                assert own == {measure: row[field] for field, measure in MONEY.items()}
        for form in SOME.casts[shop].forms:
            path = f"/v1/forms/{form}/funnel"
            figures = answer(path)
            counts = sums(of(path, "funnel"), ["views", "starts", "completions", "submissions"])
            assert counts == {name: figures[name] for name in counts}
            outcomes = sums(of("/forms/{id}/funnel", "outcome", form), ["converted", "gross"])
            assert list(outcomes.values()) == [
                figures["convertedSubmissions"],
                figures["grossRevenueCents"],
            ]


def test_every_fact_has_the_rows_that_brought_it(some: Product) -> None:
    found = 0
    for shop, day in days_of(SOME):
        for one in explained(some, "/v1/revenue/by-form", shop, day):
            for fact in one["facts"]:
                assert fact["sessions"] or fact["orders"]
                rows = [row for session in fact["sessions"] for row in session["events"]]
                rows += [row for own in fact["orders"] for row in own["versions"]]
                assert rows
                assert {row["file"].rpartition(".")[2] for row in rows} == {"ndjson"}
                found += len(rows)
    assert found


def test_the_table_of_endpoints_is_what_they_read(some: Product) -> None:
    shop = next(iter(SOME.casts))
    questions: dict[str, list[dict[str, str]]] = {
        "/revenue/by-utm": [
            {"dimension": name} for name in ("campaign", "attribution", "hierarchy")
        ],
        "/customers/ltv": [{"dimension": name} for name in ("form", "segment")],
        "/forms/{id}/cross-field": [{"fieldA": "a", "fieldB": "b"}],
        "/forms/{id}/trends": [{"clock": "order"}, {"clock": "submission"}],
        "/revenue/by-form": [{"clock": "order"}, {"clock": "submission"}],
    }
    for path, endpoint in READABLE.items():
        # Orders are facts, whose number alone is that of a report.
        if path.startswith("/orders"):
            continue
        days = {"range": SOME.ranges(shop)[2] or ""} if endpoint.ranged else {}
        with statements() as sent:
            for query in questions.get(path, [{}]):
                for form in SOME.casts[shop].forms if "{id}" in path else [""]:
                    address = f"/v1{path}".replace("{id}", form)
                    assert some.get(address, query | days, shop)[0] == 200, path
        text = " ".join(sent).replace('"', " ").replace(".", " ").replace(",", " ").split()
        read = {name for name in SUMMARY if f"daily_{name}" in text}
        assert read == set(SUMMARIES_OF.get(path, ())), path


def test_an_endpoint_and_a_field_have_several_spellings() -> None:
    for endpoint in ("attribution", "/attribution", "/v1/attribution", "v1/attribution?range=7d"):
        assert summaries_of(endpoint) == ((SUMMARY["attribution"],), "")
    assert summaries_of(f"/v1/forms/{FORM}/steps/dropoff") == ((SUMMARY["step"],), FORM)
    assert summaries_of("ltv_form") == ((SUMMARY["ltv_form"],), "")
    assert FILTERS == NAMES
    for name in NAMES:
        with pytest.raises(ValueError, match=rf"is filtered by `{name}`"):
            summaries_of(f"/v1/forms/{FORM}/funnel?range=7d&{name}=")
    with pytest.raises(ValueError, match=r"'/v1/x' sums no daily rows. Give one of /forms/funnel"):
        summaries_of("/v1/x")
    funnel, outcome = SUMMARY["funnel"], SUMMARY["outcome"]
    assert measures_of("conversionRate", [funnel, outcome]) == {"converted", "submissions"}
    assert measures_of("netRevenueCents", [outcome]) == {"gross", "refunded"}
    assert measures_of("dropoffs", [SUMMARY["step"]]) == {"dropoffs"}
    with pytest.raises(ValueError, match=r"'colour' is made of no measure .* completions"):
        measures_of("colour", [funnel])


@pytest.fixture
def by_hand(product: Product) -> Product:
    product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    product.load("forms", [{"shop_id": SHOP, "form_id": FORM, "name": "Pop-up"}])
    session = {"form_session_id": "s1", "visitor_id": "v1", "form_id": FORM, "shop_id": SHOP}
    at = "2026-01-02T10:00:00Z"
    product.load(
        "events",
        [
            event_row(event_id="e1", type="view", occurred_at=at, **session),
            event_row(
                event_id="e2", type="subscribe", occurred_at=at, discount_code="W-1", **session
            ),
        ],
    )
    code = [{"code": "w-1", "amount_cents": 100}]
    product.load(
        "orders",
        [order(order_id="o1", created_at="2026-01-02T11:00:00Z", discount_codes=code)],
    )
    product.rollup()
    return product


def run(product: Product, *words: str) -> tuple[int, str]:
    return product._run_jobs("explain", *words)


def test_people_read_the_rule_and_the_file(by_hand: Product) -> None:
    question = ("/v1/attribution", "--shop", SHOP, "--day", f"{DAY}")
    status, printed = run(by_hand, *question, "--field", "orders")
    assert status == 0
    lines = printed.splitlines()
    assert lines[0] == "/v1/attribution of a.example on 2026-01-02 (UTC)"
    assert lines[2:6] == [
        "daily_attribution: orders 1",
        "  type           orders",
        "  discount_code  1",
        "  + orders 1",
    ]
    assert "    session s1 of form 11111111-1111-4111-8111-111111111111: viewed_at" in lines[6]
    assert lines[7].startswith("      view          2026-01-02T10:00:00.000Z  e1, import 3 of ")
    assert lines[9].startswith("    order o1 of 2026-01-02T11:00:00.000Z: gross ")
    assert lines[10] == (
        "      discount_code: the latest submission that was issued a code of the order, a nearer "
        "person's first"
    )
    assert " stands, import 4 of " in lines[11]
    assert lines[11].endswith("orders.ndjson")
    status, printed = run(by_hand, *question, "--json")
    found = json.loads(printed)
    assert found["summaries"][0]["stored"]["orders"] == 1
    assert found["summaries"][0]["facts"][0]["orders"][0]["credited"] == "discount_code"


def test_every_endpoint_is_explained(by_hand: Product) -> None:
    for path in SUMMARIES_OF:
        for one in explained(by_hand, path, SHOP, DAY):
            assert one["stored"] == one["listed"], path
            assert bool(one["facts"]) == any(one["stored"].values()), path
    [one] = explained(by_hand, "/forms/funnel", SHOP, DAY, FORM)
    events = [row["event_id"] for fact in one["facts"] for row in fact.get("events", ())]
    assert (one["stored"]["events"], sorted(events)) == (2, ["e1", "e2"])


def test_rows_that_are_gone_are_said_to_be_kept_as_facts(by_hand: Product) -> None:
    by_hand.purge(raw_days=30)
    _, printed = run(by_hand, "funnel", "--shop", SHOP, "--day", f"{DAY}", "--json")
    [session] = json.loads(printed)["summaries"][0]["facts"][0]["sessions"]
    assert session["events"] == []
    assert [cell["first"] for cell in session["kept"]] == ["2026-01-02T10:00:00.000Z"]
    _, printed = run(by_hand, "funnel", "--shop", SHOP, "--day", f"{DAY}")
    assert "      kept facts of batch " in printed


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("/v1/x", "--shop", SHOP, "--day", "2026-01-02"), 2, "'/v1/x' sums no daily rows"),
        (("attribution", "--shop", "b", "--day", "2026-01-02"), 1, "'b' is no shop with figures"),
        (("attribution", "--shop", SHOP, "--day", "x"), 2, "'x' is not a day"),
        (
            ("attribution", "--shop", SHOP, "--day", "2026-01-02", "--form", FORM),
            2,
            "'attribution' has no figures of one form",
        ),
        (
            ("attribution", "--shop", SHOP, "--day", "2026-01-02", "--field", "views"),
            2,
            "'views' is made of no measure of these summaries. They have gross, orders, refunded",
        ),
    ],
)
def test_a_question_that_nothing_answers(
    by_hand: Product, words: tuple[str, ...], status: int, told: str
) -> None:
    assert run(by_hand, *words)[0] == status
    assert told in run(by_hand, *words)[1]
