"""New passwords: which are refused for being among the first that anybody would try."""

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Clock
from tests.support.people import PASSWORD, Browser, add_member, new_link
from tests.support.shop_builder import ShopBuilder
from web.auth.passwords import Weak, objection_to_length, require_strong

WORDS = ["ada.lovelace@example.com", "best-shoes.myshopify.com"]


def objection(password: str) -> str:
    try:
        require_strong(password, WORDS)
    except Weak as error:
        return str(error)
    return objection_to_length(password)


@pytest.mark.parametrize(
    "password",
    [
        "passwordpassword",
        "Password1234",
        "P@ssw0rd1234",
        "123456789012",
        "12345678901234567890",
        "aaaaaaaaaaaaaaaaaaa",
        "abcabcabcabcabc",
        "abcdefghijkl",
        "qwertyuiopas",
        "1q2w3e4r5t6y",
        "iloveyou1234",
        "monkeymonkey1",
        "ada.lovelace@example.com",
        "lovelacelovelace",
        "best-shoes.myshopify.com",
        "Best-Shoes.MyShopify.com",
        "bestshoes2026",
        "short",
        "x1y2z3" * 50,
    ],
)
def test_easy_passwords_are_refused(password: str) -> None:
    assert objection(password)


@pytest.mark.parametrize(
    "password",
    [
        PASSWORD,
        "the cat sleeps on my laptop",
        "U8s_kd92Lqp0xW3a",
        "тихий вечер у моря",
        "x" * 20 + "the cat sleeps on my laptop" * 8,
    ],
)
def test_other_passwords_are_taken(password: str) -> None:
    assert objection(password) == ""


def test_the_shops_of_the_member_are_asked_for(
    client: FlaskClient, engine: Engine, clock: Clock
) -> None:
    shop = ShopBuilder(engine, "velvet-harbour.myshopify.com")
    add_member(engine, shop, password=False)
    browser = Browser(client)
    link = new_link(engine, "ada@example.com", clock.now)
    weak = browser.post(link, password=shop.shop_id, again=shop.shop_id)
    assert weak.status_code == 422
    assert "too easy to guess" in weak.get_data(as_text=True)
    assert browser.post(link, password=PASSWORD, again=PASSWORD).status_code == 302
