"""Every number on the page of one form is the API's, but for its section "Days"."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.conftest import NewUrl
from tests.support.people import Browser, add_member
from tests.support.product import Product
from tests.support.shop_builder import ShopBuilder, known_shop
from tests.support.worlds import NOW, World
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.form_answers import MOST_ROWS, check_answers, check_crossed
from tests.web.dashboard.form_page import (
    Expected,
    check_devices,
    check_funnel,
    check_steps,
    check_times,
    check_visitors,
    form_ids,
)
from tests.web.dashboard.page_figures import figures
from tests.web.dashboard.page_text import sections
from tests.web.dashboard.quiz_shop import EMPTY, QUIZ, SHOP, SKINS, answer, load_quiz, session, step
from tests.web.dashboard.written import english
from warehouse.connections.engine import open_engine
from web.app import close_app, create_app

# The weight of a page without its style sheets, before it is compressed to a tenth.
MAX_BYTES = 225_000


def check_all(page: str, expected: Expected) -> None:
    check_funnel(page, expected)
    check_steps(page, expected)
    check_times(page, expected)
    check_devices(page, expected)
    check_visitors(page, expected)
    check_answers(page, expected)
    fields = sorted({row["fieldId"] for row in expected.rows("response-revenue")})
    if len(fields) > 1:
        check_crossed(page, expected, *fields[:2])
    else:
        expected.section(page, "Two questions together").check()


# Figures beside former ones: `test_figures.py`.
ALONE = {
    "compare": "none",
    "clock": "submission",
    "numbers": "stages,steps,times,devices,visitors,answers,pairs,buckets",
}


@pytest.mark.parametrize("days", [7, 30, 90])
def test_every_number_of_a_random_shop(seen: Seen, days: int) -> None:
    for form_id in form_ids(seen):
        page = seen.page(f"/forms/{form_id.upper()}", range=f"{days}d", **ALONE)
        with english(seen.browser.client):
            check_all(page, Expected(seen, form_id, days))


@contextmanager
def opened(url: str) -> Iterator[Seen]:
    """The shop with the quiz, in a warehouse, seen by a member."""
    engine, app = open_engine(url), create_app(url)
    browser, product = Browser(app.test_client()), Product(url)
    email = f"ada{id(app)}@example.com"
    add_member(engine, known_shop(engine, SHOP), email)
    browser.sign_in(email)
    yield Seen(browser, product, World(0, NOW, {}, {}), SHOP)
    close_app(app)
    product.close()
    engine.dispose()


@pytest.fixture(scope="module")
def quiz_url(new_shared_url: NewUrl) -> str:
    url = new_shared_url()
    product = Product(url)
    load_quiz(product)
    product.close()
    return url


@pytest.fixture(scope="module")
def shop(quiz_url: str) -> Iterator[Seen]:
    with opened(quiz_url) as shop:
        yield shop


def test_every_number_of_the_quiz(shop: Seen) -> None:
    page = shop.page(f"/forms/{QUIZ}", range="7d", **ALONE)
    with english(shop.browser.client):
        expected = Expected(shop, QUIZ, 7)
        check_all(page, expected)
        # The first step loses nobody.
        assert expected.section(page, "Steps").tables[0][1][0] == "Step 1 loses most"


def test_a_form_without_events(shop: Seen) -> None:
    page = shop.page(f"/forms/{EMPTY}", range="7d", **ALONE)
    with english(shop.browser.client):
        check_all(page, Expected(shop, EMPTY, 7))
    for sentence in (
        "No session saw a step",
        "Nobody completed the form",
        "Nobody saw the form",
        "No submission of these days answered",
        "Less than two questions were answered",
    ):
        assert sentence in page


def test_a_form_that_ends_with_the_subscription(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    """It has submissions, and nobody completed it."""
    seen, shop, _ = by_hand
    form_id = shop.form(QUIZ, name="Newsletter")
    day = f"{datetime.now(UTC) - timedelta(days=2):%Y-%m-%d}"
    shop.daily("funnel", day, form=form_id, views=9, subscriptions=4, submissions=4)
    sentence = "Nobody completed the form in these days"
    assert f"{sentence}: those who submitted it subscribed." in seen.page(f"/forms/{form_id}")
    earlier = seen.page(f"/forms/{form_id}", range="today")
    assert f"{sentence}.</p>" in earlier


@pytest.mark.parametrize("device", ["all", "desktop", "mobile"])
def test_times_of_a_device(shop: Seen, device: str) -> None:
    page = shop.page(f"/forms/{QUIZ}", range="7d", **ALONE, times=device)
    with english(shop.browser.client):
        check_times(page, Expected(shop, QUIZ, 7), device)
    name = "All devices" if device == "all" else device.capitalize()
    switch = page.partition('aria-label="Device"')[2].partition("</nav>")[0]
    assert f'times={device}#times" aria-current="true">{name}</a>' in switch
    assert switch.count("aria-current") == 1


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("question", lambda row: row["fieldId"]),
        ("answer", lambda row: row["value"]),
        ("submissions", lambda row: row["submissions"]),
        ("net", lambda row: row["netRevenueCents"]),
    ],
)
@pytest.mark.parametrize("sign", ["", "-"])
def test_answers_are_sorted(shop: Seen, column: str, value: Any, sign: str) -> None:
    page = shop.page(f"/forms/{QUIZ}", range="7d", **ALONE, sort=f"answers.{sign}{column}")
    with english(shop.browser.client):
        expected = Expected(shop, QUIZ, 7)
        rows = expected.rows("response-revenue")
        known = [row for row in rows if value(row) is not None]
        known.sort(key=value, reverse=bool(sign))
        check_answers(page, expected, known + [row for row in rows if value(row) is None])
    assert f'aria-sort="{"descending" if sign else "ascending"}"' in page


@pytest.mark.parametrize(
    ("column", "figure"), [("bought", "conversionRate"), ("per", "revenuePerSubmissionCents")]
)
@pytest.mark.parametrize("sign", ["", "-"])
def test_answers_are_sorted_at_equal_age(seen: Seen, column: str, figure: str, sign: str) -> None:
    most = 0
    for form_id in form_ids(seen):
        page = seen.page(f"/forms/{form_id}", range="90d", sort=f"answers.{sign}{column}")
        found = [each for each in figures(page) if each.table == "answers" and each.name == figure]
        shown = [each.now for each in found if each.days and not each.text.startswith("—")]
        assert shown == sorted(shown, reverse=bool(sign))
        most = max(most, len(set(shown)))
    assert most > 1


@pytest.mark.parametrize(
    ("asked", "crossed"),
    [
        ({}, ("concerns", "effort")),
        ({"field": "skin", "by": "serum"}, ("skin", "serum")),
        ({"field": "serum", "by": "skin"}, ("serum", "skin")),
        ({"field": "skin"}, ("skin", "concerns")),
        ({"by": "concerns"}, ("effort", "concerns")),
    ],
)
def test_two_questions(shop: Seen, asked: dict[str, str], crossed: Sequence[str]) -> None:
    page = shop.page(f"/forms/{QUIZ}", range="7d", **ALONE, **asked)
    with english(shop.browser.client):
        check_crossed(page, Expected(shop, QUIZ, 7), *crossed)
    for name, field in zip(("field", "by"), crossed, strict=True):
        select = page.partition(f'<select id="{name}"')[2].partition("</select>")[0]
        assert f'<option value="{field}" selected>{field}</option>' in select


def test_strong_pairs_are_told_and_those_of_chance_are_not(shop: Seen) -> None:
    page = shop.page(f"/forms/{QUIZ}", range="7d", **ALONE, field="skin", by="serum")
    words = " ".join(sections(page)["Two questions together"].others)
    assert "These answers are strongly related" in words
    for skin in SKINS:
        assert f"People who answer {skin} choose {skin}" in words
    page = shop.page(f"/forms/{QUIZ}", range="7d", **ALONE, field="concerns", by="skin")
    words = " ".join(sections(page)["Two questions together"].others)
    assert "These answers are hardly related" in words
    assert "No pair of answers goes together more often than chance explains." in words


@pytest.mark.parametrize(
    ("asked", "heading", "told"),
    [
        (
            {"field": "teint", "by": "skin"},
            "Two questions together",
            "No submission of these days answered 'teint'. Choose a question of the list.",
        ),
        (
            {"field": "skin", "by": "skin"},
            "Two questions together",
            "Both questions are 'skin'. Choose two different ones.",
        ),
        (
            {"times": "toaster"},
            "Time to complete",
            "Nobody completed the form on a device 'toaster'. Choose one of the list.",
        ),
        (
            {"sort": "answers.colour"},
            "Answers",
            "This table cannot be sorted by 'colour'. Choose one of its headings.",
        ),
    ],
)
def test_a_bad_value_is_told_beside_its_control(
    shop: Seen, asked: dict[str, str], heading: str, told: str
) -> None:
    page = shop.page(f"/forms/{QUIZ}", range="7d", **ALONE, **asked)
    with english(shop.browser.client):
        check_all(page, Expected(shop, QUIZ, 7))
    assert page.count('class="error"') == 1
    assert told in " ".join(sections(page)[heading].others)


def test_a_form_of_another_shop_is_none(shop: Seen, seen: Seen) -> None:
    html = {"Accept": "text/html"}
    assert shop.browser.get(f"/forms/{form_ids(seen)[0]}", headers=html).status_code == 404
    assert seen.browser.get(f"/forms/{QUIZ}", headers=html).status_code == 404


def test_very_many_answers(sqlite_url: str) -> None:
    """More than the API gives: the page shows the first, says so, and stays light."""
    day, product = datetime.now(UTC) - timedelta(days=1), Product(sqlite_url)
    product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    product.load("forms", [{"form_id": QUIZ, "shop_id": SHOP, "name": "Quiz"}])
    moments = ({"type": "view"}, {"type": "complete"})
    product.load(
        "events",
        [
            event
            for number in range(1_100)
            for event in session(
                number,
                day,
                "x",
                *moments,
                answer("city", f"city {number}"),
                answer("street", f"street {number}"),
                *(step(place) for place in range(120 if number == 0 else 0)),
            )
        ],
    )
    product.rollup()
    product.close()
    with opened(sqlite_url) as shop, english(shop.browser.client):
        page = shop.page(f"/forms/{QUIZ}", range="7d", **ALONE)
        glance = shop.page(f"/forms/{QUIZ}", range="7d", compare="none")
        assert len(glance.encode()) < MAX_BYTES
        expected = Expected(shop, QUIZ, 7)
        check_answers(page, expected)
        section = check_crossed(page, expected, "city", "street")
    assert section.tables[0][0][2] == "— (one of too many pairs)"
    assert len(sections(page)["Steps"].tables[0]) == MOST_ROWS
