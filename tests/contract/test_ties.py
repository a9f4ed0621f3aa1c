"""Versions of an order of one instant: the same one stands in every warehouse that was given the same rows,
whatever its secret is, in any order of arrival and any portions, from files of any format."""

import tempfile
from pathlib import Path
from random import Random
from typing import Any

import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import NewUrl
from tests.support.examples import EXAMPLES
from tests.support.import_files import Row, event, order, written
from tests.support.product import Product
from tests.support.strategies import seeds

SHOP = "a.example"
# The first bytes of their hashes differ.
EMAILS = ["ada@a.example", "bea@a.example", "cleo@a.example"]
REFUND = {"refund_id": "r", "created_at": "2026-01-04", "amount_cents": 100}

versions = st.fixed_dictionaries(
    {"total_cents": st.sampled_from([1000, 2000])},
    optional={
        "exported_at": st.just("2026-01-03T00:00:00Z"),
        "email": st.sampled_from(EMAILS),
        "customer_id": st.sampled_from(["c1", "c2"]),
        "refunds": st.just([REFUND]),
        "test": st.booleans(),
        "cancelled_at": st.just("2026-01-05"),
        "discount_codes": st.just([{"code": "save"}]),
        "utm_source": st.just("meta"),
    },
)
tied = st.lists(versions, min_size=2, max_size=4, unique_by=repr)


def submissions() -> list[Row]:
    """A submission of each address: an order is credited to that of its address."""
    ids = ("event_id", "form_session_id", "visitor_id")
    return [
        event(type="subscribe", email=email, **dict.fromkeys(ids, name_of(email)))
        for email in EMAILS
    ]


def name_of(email: str) -> str:
    return email.partition("@")[0]


def load(product: Product, orders: list[Row], rng: Random) -> None:
    """Import orders in random order and portions, from files of random formats, some of them again."""
    product.empty()
    product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    product.load("events", submissions())
    rows = rng.sample(orders, len(orders)) + rng.choices(orders, k=2)
    with tempfile.TemporaryDirectory() as folder:
        while rows:
            size = rng.randint(1, len(rows))
            name = rng.choice(["in.ndjson", "in.csv", "in.parquet"])
            product.take("orders", [written(Path(folder, name), rows[:size])])
            rows = rows[size:]
            if rng.random() < 0.3:
                product.rollup()
    product.rollup()


def standing(product: Product) -> list[Any]:
    """The rows that figures are made of, and the submission to which each order is credited."""
    engine = sa.create_engine(product.url)
    with engine.connect() as connection:
        rows = connection.execute(
            sa.text(
                "SELECT o.order_id, o.gross, o.refunded, o.customer_id, o.type, o.order_utm, "
                "(SELECT s.form_session_id FROM fact_form_session s WHERE s.session = o.session), "
                '(SELECT COUNT(*) FROM fact_order_code c WHERE c."order" = o."order") '
                "FROM fact_order o ORDER BY o.order_id"
            )
        ).all()
    engine.dispose()
    return [tuple(row) for row in rows]


@given(first=tied, second=tied, seed=seeds)
@EXAMPLES
def test_two_warehouses_answer_the_same(
    new_sqlite_url: NewUrl, first: list[Row], second: list[Row], seed: int
) -> None:
    """Each has a secret of its own."""
    orders = [
        order(order_id=name, created_at="2026-01-03T00:00:00Z", **version)
        for name, given_versions in (("o1", first), ("o2", second))
        for version in given_versions
    ]
    rng = Random(seed)
    products = [Product(new_sqlite_url()) for _ in range(2)]
    for product in products:
        load(product, orders, rng)
    one, other = map(standing, products)
    assert one == other
    for product in products:
        assert product.verify_all()
        product.close()


def test_an_undo_has_the_other_version_stand_again(new_sqlite_url: NewUrl) -> None:
    product = Product(new_sqlite_url())
    product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    product.load("events", submissions())
    imports = {}
    for email in EMAILS:
        product.load("orders", [order(created_at="2026-01-03T00:00:00Z", email=email)])
        imports[name_of(email)] = product.last_import()
    product.rollup()
    stood = []
    while imports:
        ((*_, name, _),) = standing(product)
        stood.append(name)
        product.undo(imports.pop(name))
        product.rollup()
    assert sorted(stood) == [name_of(email) for email in EMAILS]
    assert standing(product) == []
    product.close()
