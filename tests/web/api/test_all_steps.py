"""The steps of all forms in one read, for pages: those of endpoint 7, form by form."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.fixtures import Loaded
from tests.support.product import Product
from tests.support.shop_builder import known_shop
from tests.support.worlds import World, world
from tests.tiers import thorough
from warehouse.connections.engine import open_engine
from warehouse.domain.time import local_day
from web.app import close_app, create_app
from web.dashboard.answers import Answers
from web.http.api_key_auth import find_shop
from web.http.date_range import parse_range
from web.reports.form_analytics import all_steps

FIGURES = ("stepId", "views", "dropoffs", "dropoffRate")
NOW = datetime.now(UTC)
MICROS = int(NOW.timestamp() * 1_000_000)


@pytest.fixture(scope="module", params=[3, *thorough([4, 5, 6])])
def some(request: pytest.FixtureRequest) -> World:
    return world(request.param, 60, NOW)


def test_the_steps_of_all_forms_are_those_of_each(loaded: Loaded, some: World) -> None:
    url = loaded(some)
    # A run may pass midnight in the zone of a shop.
    product = Product(url, now=MICROS)
    seen = 0
    for shop_id in some.casts:
        for days in ("30d", "7d", f"{NOW.date()}"):
            steps = all_steps_of(url, shop_id, days)
            by_form: dict[str, list[Any]] = {form["id"]: [] for form in forms_of(product, shop_id)}
            for step in steps:
                of_form = by_form.get(step["formId"])
                # Forms that only events name have no answer of their own.
                if of_form is not None:
                    of_form.append({name: step[name] for name in FIGURES})
            for form_id, ours in by_form.items():
                path = f"/v1/forms/{form_id}/steps/dropoff"
                status, body = product.get(path, {"range": days}, shop_id)
                assert status == 200
                theirs = [{name: row[name] for name in FIGURES} for row in body["data"]]
                assert ours == sorted(theirs, key=lambda row: row["stepId"])
                seen += len(ours)
    assert seen > 5
    product.close()


def forms_of(product: Product, shop_id: str) -> Any:
    return product.get("/v1/forms", {"limit": "200"}, shop_id)[1]["data"]


def all_steps_of(url: str, shop_id: str, days: str) -> list[dict[str, Any]]:
    engine, app = open_engine(url), create_app(url)
    with engine.connect() as connection, app.app_context():
        shop = find_shop(connection, known_shop(engine, shop_id).key)
        today = local_day(MICROS, shop.timezone)
        answers = Answers(connection, shop, frozenset(), MICROS, today)
        window = parse_range(days, today, shop.timezone)
        rows: list[dict[str, Any]] = answers.data(all_steps, window)
    close_app(app)
    engine.dispose()
    return rows
