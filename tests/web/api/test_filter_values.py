"""Filtered reports that only pages ask for: the values to choose from, all steps, submissions by day."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Clock
from tests.support.import_files import FORM
from tests.support.shop_builder import ShopBuilder
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import day_number
from web.api.endpoint import Endpoint
from web.api.forms import submissions_by_day
from web.dashboard.answers import Answers
from web.http.api_key_auth import find_shop
from web.http.date_range import parse_range
from web.reports import filter_values as module
from web.reports.filter_values import filter_values
from web.reports.form_analytics import all_steps

OTHER = FORM.replace("0190", "0191")
TODAY, DAY, BEFORE = "2026-03-31", "2026-03-30", "2026-03-20"
SPRING = {"source": "google", "campaign": "spring"}
PHONE, DESKTOP = "mobile", "desktop"

Asked = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def asked(client: FlaskClient, engine: Engine, shop: ShopBuilder, clock: Clock) -> Asked:
    """The answer to a page about 2026-03-30."""
    shop.form(FORM)
    shop.step(FORM, "a", 0)
    shop.text("b")

    def sessions(name: str, on: str, form: str, **values: Any) -> None:
        attributes = {"device": PHONE, "is_first_session": 1, "utm": {}, "variant": 0}
        shop.daily(name, on, form=form, **{**attributes, **values})

    sessions("crossed_session", DAY, FORM, visitor=1, views=3, submissions=1, utm=SPRING)
    sessions("crossed_session", DAY, FORM, visitor=2, views=2, device=DESKTOP, is_first_session=0)
    sessions("crossed_session", DAY, FORM, visitor=3, submissions=1, device="tablet")
    sessions("crossed_session", DAY, OTHER, visitor=1, views=5, variant=text_id("b"))
    sessions("crossed_session", BEFORE, FORM, visitor=1, views=9, device="other")
    sessions("crossed_step", DAY, FORM, step="a", views=3, dropoffs=1)
    sessions("crossed_step", DAY, FORM, step="a", views=2, dropoffs=2, device=DESKTOP)

    def answer(report: Endpoint, form_id: str = "", **filters: str) -> list[dict[str, Any]]:
        today = day_number(date.fromisoformat(TODAY))
        with engine.connect() as connection, client.application.app_context():
            known = find_shop(connection, shop.key)
            answers = Answers(connection, known, frozenset(), clock(), today, filters)
            rows: list[dict[str, Any]] = answers.data(
                report, parse_range(DAY, today, "UTC"), form_id
            )
        return rows

    return answer


def values(rows: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        found.setdefault(row["filter"], {})[row["value"]] = row["views"]
    return found


def test_values_of_all_forms_of_one_and_of_chosen_sessions(asked: Asked) -> None:
    of_all = values(asked(filter_values))
    none = {"(none)": 10}
    assert of_all == {
        "device": {PHONE: 8, DESKTOP: 2},
        "visitor": {"new": 8, "returning": 2},
        "utm_source": {"(none)": 7, "google": 3},
        "utm_medium": none,
        "utm_campaign": {"(none)": 7, "spring": 3},
        "utm_term": none,
        "utm_content": none,
        "variant": {"b": 5, "(none)": 5},
    }
    # Those with most views come first; of equal ones, the first by name.
    assert [list(of_all[name]) for name in ("utm_source", "variant")] == [
        ["(none)", "google"],
        ["(none)", "b"],
    ]
    of_form = values(asked(filter_values, FORM))
    assert of_form["device"] == {PHONE: 3, DESKTOP: 2}
    assert of_form["variant"] == {"(none)": 5}
    of_desktops = values(asked(filter_values, device=DESKTOP))
    assert of_desktops["visitor"] == {"returning": 2}
    assert of_desktops["utm_source"] == {"(none)": 2}
    assert values(asked(filter_values, FORM, device="tablet")) == {}


def test_the_values_with_most_views_are_named(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_VALUES", 1)
    assert values(asked(filter_values))["device"] == {PHONE: 8}


def test_steps_and_days_of_chosen_sessions(asked: Asked) -> None:
    (step,) = asked(all_steps, device=DESKTOP)
    assert (step["formId"], step["views"], step["dropoffs"]) == (FORM, 2, 2)
    days = {row["formId"]: row["submissionsByDay"] for row in asked(submissions_by_day)}
    # Without a filter it reads another summary, which this shop does not have.
    assert days == {}
    chosen = asked(submissions_by_day, device=PHONE)
    assert {row["formId"]: row["submissionsByDay"] for row in chosen} == {FORM: [1], OTHER: [0]}
