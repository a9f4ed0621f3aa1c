"""A few people with many form sessions, in many small batches: the figures are the oracle's.

A refresh reads the sessions and orders next to what changed, not all (`jobs/facts/rollup_units.py`). So here
instants tie, sessions come between others, get submitted, and change their visitor, customer and answers
later; orders move and become tests; imports are undone, and a person is forgotten.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.answers import Question, wrong_answers
from tests.support.examples import EXAMPLES, tell
from tests.support.forgetting import Person, is_of
from tests.support.oracle.records import Row
from tests.support.product import Product

SHOP = "a.example"
FORMS = ["aaaaaaaa-0000-4000-8000-000000000000", "bbbbbbbb-0000-4000-8000-000000000000"]
START = datetime(2026, 1, 1, tzinfo=UTC)
# Some days next to each other, and on each some instants; and the end of the attribution window.
HOURS = [24 * day + hour for day in (0, 1, 2, 3, 9, 30) for hour in (0, 1, 12, 23)]
RANGES = ["2026-01-01..2026-03-01", "2026-01-02..2026-01-03", "2026-01-03..2026-01-20"]

Portion = tuple[str, list[Row]]
"""A kind of rows and the rows; the kind "undo" has none."""

_instants = st.sampled_from(HOURS).map(lambda hours: (START + timedelta(hours=hours)).isoformat())
_codes = st.sampled_from(["TEN", "TWO"])
_people = {
    "customer_id": st.sampled_from([None, None, "guest", "c1"]),
    "email": st.sampled_from([None, None, None, "ann@mail.example"]),
}
_events = st.lists(
    st.fixed_dictionaries(
        {
            "form_session_id": st.integers(0, 59).map(lambda number: f"s{number}"),
            "visitor_id": st.sampled_from(["kiosk", "kiosk", "v1"]),
            "type": st.sampled_from(["view", "view", "subscribe", "complete", "answer"]),
            "occurred_at": _instants,
            "value": st.sampled_from(["S", "M", ["S", "L"]]),
            "discount_code": st.one_of(st.none(), st.none(), _codes),
            **_people,
        }
    ),
    min_size=1,
    max_size=25,
)
_orders = st.lists(
    st.fixed_dictionaries(
        {
            "order_id": st.integers(0, 14).map(lambda number: f"o{number}"),
            "created_at": _instants,
            "total_cents": st.integers(0, 999),
            "visitor_id": st.sampled_from([None, "kiosk", "v1"]),
            "discount_codes": st.lists(_codes.map(lambda code: {"code": code}), max_size=1),
            "test": st.sampled_from([False, False, False, True]),
            **_people,
        }
    ),
    min_size=1,
    max_size=6,
)
_portion: st.SearchStrategy[tuple[str, list[Any]]] = st.one_of(
    st.tuples(st.just("events"), _events),
    st.tuples(st.just("events"), _events),
    st.tuples(st.just("orders"), _orders),
    st.tuples(st.just("undo"), st.just([])),
)
_persons = st.sampled_from(
    [(SHOP, "customer", "guest"), (SHOP, "visitor", "v1"), (SHOP, "email", "ann@mail.example")]
)


def numbered(kind: str, rows: list[Row], portion: int) -> list[Row]:
    """The rows with an id that no other event has, or a version later than all before it."""
    if kind == "events":
        more: list[Row] = [
            {"event_id": f"e{portion}-{number}", "field_id": "size", "field_type": "choice"}
            | {"form_id": FORMS[int(row["form_session_id"][1:]) % len(FORMS)]}
            for number, row in enumerate(rows)
        ]
    else:
        at = START + timedelta(days=90, hours=portion)
        more = [
            {"updated_at": (at + timedelta(seconds=number)).isoformat()}
            for number in range(len(rows))
        ]
    return [{"shop_id": SHOP, **row, **own} for row, own in zip(rows, more, strict=True)]


def questions() -> Iterator[Question]:
    for days in RANGES:
        for form in FORMS:
            for name in ("funnel", "visitor-conversion", "response-revenue", "time-to-order"):
                yield SHOP, f"/v1/forms/{form}/{name}", {"range": days}
        for dimension in ("form", "segment"):
            yield SHOP, "/v1/customers/ltv", {"range": days, "dimension": dimension}
        yield SHOP, "/v1/attribution/daily", {"range": days}
        yield SHOP, "/v1/discounts/performance", {"range": days}


def assert_figures(
    product: Product, shown: list[Portion], when: str, person: Person | None = None
) -> None:
    records: dict[str, list[Row]] = {
        "shops": [{"shop_id": SHOP, "currency": "USD"}],
        "forms": [{"shop_id": SHOP, "form_id": form, "name": form} for form in FORMS],
        "events": [],
        "orders": [],
    }
    for kind, rows in shown:
        records[kind] += [row for row in rows if not (person and is_of(row, person))]
    found = wrong_answers(product, questions(), records)
    assert not found, "\n".join([f"{when}: {len(found)} differences", *found[:40]])
    assert product.verify_all(), f"{when}: verify --all finds differences"


@given(portions=st.lists(_portion, min_size=4, max_size=12), person=_persons, data=st.data())
@EXAMPLES
def test_figures_of_a_few_people_with_many_sessions(
    product: Product, portions: list[Portion], person: Person, data: st.DataObject
) -> None:
    product.empty()
    product.load("shops", [{"shop_id": SHOP, "currency": "USD"}])
    product.load("forms", [{"shop_id": SHOP, "form_id": form, "name": form} for form in FORMS])
    imported: dict[int, Portion] = {}
    for number, (kind, some) in enumerate(portions):
        if kind == "undo":
            if not imported:
                continue
            undone = data.draw(st.sampled_from(sorted(imported)))
            tell(f"undo {imported.pop(undone)}")
            product.undo(undone)
        else:
            rows = numbered(kind, some, number)
            tell(f"{kind}: {rows}")
            product.load(kind, rows)
            imported[product.last_import()] = kind, rows
        product.rollup()
        assert product.verify_all(), f"verify --all finds differences after portion {number}"
    assert_figures(product, list(imported.values()), "after the last portion")
    tell(f"forget {person}")
    product.forget(*person)
    product.rollup()
    assert_figures(product, list(imported.values()), "in the end", person)
