"""Which submission every order is credited to, after each of several rollups, beside the oracle.

Sessions, codes, people and instants are so few that strangers share codes, submissions tie, come in
between others, move to earlier instants and are issued codes later, time and again.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.depth import INVARIANT_EXAMPLES
from tests.support.oracle import Oracle
from tests.support.oracle.records import Row
from tests.support.product import Product
from warehouse.connections.arrow import open_arrow
from warehouse.domain.vocabulary import ATTRIBUTION_TYPES

FORM = "aaaaaaaa-0000-4000-8000-000000000000"
START = datetime(2026, 1, 1, tzinfo=UTC)
# The window of the first ones ends between the last two.
HOURS = (0, 1, 2, 3, 4, 24 * 30, 24 * 30 + 1)
PORTIONS = 3

Credits = dict[tuple[str, str], tuple[str, str]]
"""By shop and order: attribution type and form session."""

History = tuple[list[tuple[int, Row]], list[tuple[int, Row]]]
"""Events and orders, each with the portion that it comes in."""

_instants = st.sampled_from(HOURS).map(lambda hours: (START + timedelta(hours=hours)).isoformat())
_codes = st.sampled_from(["TEN", "TEN", "TEN", "TWO"])
# Strangers, for the most part, to whom nothing but a code leads.
_people = {
    "customer_id": st.sampled_from([None, None, None, "c1"]),
    "email": st.sampled_from([None, None, None, "ann@mail.example"]),
}
_event = st.fixed_dictionaries(
    {
        "form_session_id": st.sampled_from([f"s{number}" for number in range(12)]),
        "visitor_id": st.sampled_from(["v1", "v2", "v3", "v4", "v5"]),
        "type": st.sampled_from(["view", "subscribe", "complete"]),
        "occurred_at": _instants,
        "discount_code": st.one_of(st.none(), _codes, _codes),
        **_people,
    }
)
_order = st.fixed_dictionaries(
    {
        "order_id": st.sampled_from(["o1", "o2", "o3", "o4", "o5", "o6"]),
        "created_at": _instants,
        "visitor_id": st.sampled_from([None, None, None, "v1"]),
        "discount_codes": st.lists(_codes.map(lambda code: {"code": code}), max_size=2),
        **_people,
    }
)
_when = st.integers(0, PORTIONS - 1)
# The life of one shop, and the portion with which each part is imported.
_history = st.tuples(
    st.lists(st.tuples(_when, _event), min_size=8, max_size=24),
    st.lists(st.tuples(_when, _order), min_size=3, max_size=9),
)
_shops = count()


def stored(url: str, shops: Iterable[str]) -> Credits:
    with open_arrow(url) as connection:
        rows = connection.table(
            "SELECT h.shop_id, o.order_id, o.type, s.form_session_id FROM shop h "
            "JOIN fact_order o ON o.edition = h.edition LEFT JOIN fact_form_session s "
            "ON s.edition = o.edition AND s.session = o.session"
        ).to_pylist()
    return {
        (row["shop_id"], row["order_id"]): (
            ATTRIBUTION_TYPES[row["type"]],
            row["form_session_id"] or "",
        )
        for row in rows
        if row["shop_id"] in shops
    }


def expected(records: dict[str, list[Row]], shops: Iterable[str]) -> Credits:
    oracle = Oracle(records)
    return {
        (shop_id, order): (credit.type, credit.session.id if credit.session else "")
        for shop_id in shops
        for order, credit in oracle.state(shop_id).credits.items()
    }


def rows_of(shop_id: str, history: History, portion: int) -> dict[str, list[Row]]:
    """The events and orders of one portion. The version of an order that is drawn last stands,
    whenever it comes."""
    events, orders = history
    return {
        "events": [
            {"shop_id": shop_id, "form_id": FORM, "event_id": f"e{number}", **row}
            for number, (when, row) in enumerate(events)
            if when == portion
        ],
        "orders": [
            {
                "shop_id": shop_id,
                "total_cents": 100,
                "updated_at": (START + timedelta(days=90, minutes=number)).isoformat(),
                **row,
            }
            for number, (when, row) in enumerate(orders)
            if when == portion
        ],
    }


@settings(
    max_examples=2 * INVARIANT_EXAMPLES,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    # Each example has shops of its own, so sharing the fixture is sound.
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
@given(histories=st.lists(_history, min_size=3, max_size=12))
def test_every_rollup_credits_as_the_oracle(product: Product, histories: list[History]) -> None:
    shops = {f"shop-{next(_shops)}.example": history for history in histories}
    records: dict[str, list[Row]] = {
        "shops": [{"shop_id": shop_id, "currency": "USD"} for shop_id in shops],
        "events": [],
        "orders": [],
    }
    product.load("shops", records["shops"])
    for portion in range(PORTIONS):
        for shop_id, history in shops.items():
            for kind, rows in rows_of(shop_id, history, portion).items():
                records[kind] += rows
        for kind in ("events", "orders"):
            # Rows from earlier imports are left alone.
            product.load(kind, records[kind])
        product.rollup()
        assert stored(product.url, shops) == expected(records, shops), f"portion {portion}"
    product.in_portions()
    product.rebuild()
    assert stored(product.url, shops) == expected(records, shops), "rebuilt"
