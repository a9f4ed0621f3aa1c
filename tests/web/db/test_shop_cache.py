"""Answers that are kept: the same as read anew, only as long as they are, and no more than have room."""

from threading import Barrier, Thread

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, text, update

from tests.support.clients import Client, statements
from tests.support.endpoints import FORM, GETS
from tests.support.fixtures import Clock
from tests.support.shop_builder import ShopBuilder, writing
from tests.support.waiting import PATIENCE_SECONDS
from warehouse.editions.editions import next_version
from warehouse.tables import shop as shop_table
from web.app import close_app, create_app
from web.auth import api_keys
from web.auth.audit import OPERATOR, Change
from web.db import shop_cache
from web.db.shop_cache import ShopCache
from web.http.services import services_of

PATH = "/v1/attribution?range=2026-03-01..2026-03-31"


def move(shop: ShopBuilder, now: int = 1) -> None:
    with writing(shop.engine) as connection:
        statement = text(f"UPDATE shop SET {next_version(now)} WHERE shop_key = :key")
        connection.execute(statement, {"key": shop.key})


def reading(statements: list[str]) -> list[str]:
    """Those that do more than to look up a key."""
    return [text for text in statements if "key_hash" not in text and not text.startswith("BEGIN")]


def asks_more(client: Client, path: str) -> bool:
    """Whether more is read than the key. As a page of another origin, so that each request is routed."""
    with statements() as asked:
        client.get(path, Origin="https://example.com")
    return bool(reading(asked))


def orders(client: Client) -> int:
    return sum(row["orders"] for row in client.get(PATH).get_json()["data"])


def test_what_is_kept_is_what_was_read(client: FlaskClient, shop: ShopBuilder) -> None:
    shop.form(FORM)
    shop.daily("all_forms", "2026-03-20", form=FORM, events=1)
    shop.daily("attribution", "2026-03-20", type="visitor", orders=3, gross=9)
    shop.account("meta", "ok", "2026-03-31T10:00:00")
    one, other = (Client(client, shop.mint()) for _ in range(2))
    for path in GETS:
        first = one.get(path).get_json()
        with statements() as asked:
            again, theirs = one.get(path).get_json(), other.get(path).get_json()
        # Each key is looked up; a form and notes, whose tags are their own, are read.
        assert not reading(asked) or path in (f"/v1/forms/{FORM}", "/v1/notes"), path
        ids = [body["meta"].pop("requestId") for body in (first, again, theirs)]
        assert len(set(ids)) == 3
        assert again == first
        assert theirs["meta"].pop("credentialId") != again["meta"].pop("credentialId")
        assert theirs == again


def test_it_is_read_again_when_it_has_changed(client: FlaskClient, shop: ShopBuilder) -> None:
    one = Client(client, shop.mint())
    assert orders(one) == 0
    tag = one.tag(PATH)
    shop.daily("attribution", "2026-03-20", type="visitor", orders=3)
    move(shop)
    assert not one.has(PATH, tag)
    assert orders(one) == 3
    # A client that had the answer leaves nothing that another could be given.
    tag = one.tag(PATH)
    move(shop)
    assert not one.has(PATH, tag)
    move(shop)
    fresh = one.get(PATH, "HEAD").headers["ETag"]
    assert one.has(PATH, fresh)
    assert orders(one) == 3


def test_a_key_is_looked_up_with_every_request(
    client: FlaskClient, shop: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    one = Client(client, shop.mint("analytics:read"))
    poor = Client(client, shop.mint("discounts:read"))
    body = one.get(PATH).get_json()
    tag = one.tag(PATH)
    assert poor.get(PATH).status_code == 403
    with writing(engine) as connection:
        api_keys.revoke(Change(connection, OPERATOR, clock.now), body["meta"]["credentialId"])
    for known in ("", tag, "*"):
        assert one.get(PATH, If_None_Match=known).status_code == 401


def test_another_shop_has_its_own(client: FlaskClient, shop: ShopBuilder, engine: Engine) -> None:
    theirs = ShopBuilder(engine, "other.myshopify.com")
    theirs.daily("attribution", "2026-03-20", type="visitor", orders=5)
    one, other = Client(client, shop.mint()), Client(client, theirs.mint())
    assert [orders(one), orders(other)] * 2 == [orders(one), orders(other), 0, 5]


def test_an_answer_is_never_older_than_the_version_that_it_is_kept_under(
    warehouse_url: str, shop: ShopBuilder
) -> None:
    """A writer counts up, in one transaction each, a figure and the version; no answer may fall behind
    one that was given before the request."""
    shop.daily("attribution", "2026-03-20", type="visitor", orders=0)
    app = create_app(warehouse_url)
    one = Client(app.test_client(), shop.mint())
    together, written = Barrier(2), [0]

    def count_up() -> None:
        together.wait(PATIENCE_SECONDS)
        for number in range(1, 60):
            with writing(shop.engine) as connection:
                figures = "UPDATE daily_attribution SET orders = :n WHERE edition = :edition"
                connection.execute(text(figures), {"n": number, "edition": shop.edition})
                version = text(f"UPDATE shop SET {next_version(number)} WHERE shop_key = :key")
                connection.execute(version, {"key": shop.key})
            written[0] = number

    writer = Thread(target=count_up)
    writer.start()
    together.wait(PATIENCE_SECONDS)
    while writer.is_alive():
        least = written[0]
        assert orders(one) >= least
    writer.join()
    assert orders(one) == 59
    close_app(app)


def test_what_was_asked_for_last_has_room(
    client: FlaskClient, shop: ShopBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = ShopCache(max_bytes=10 * shop_cache._OVERHEAD_BYTES)
    monkeypatch.setattr(services_of(client.application), "shop_cache", kept)
    one = Client(client, shop.mint())

    def is_kept(day: int) -> bool:
        return not asks_more(one, f"/v1/attribution?range=2026-03-{day:02}")

    assert not any(is_kept(day) for day in range(1, 6))
    assert all(is_kept(day) for day in range(1, 6))
    assert not any(is_kept(day) for day in range(6, 11))
    assert is_kept(10)
    assert not is_kept(1)
    small = ShopCache(max_bytes=shop_cache._OVERHEAD_BYTES)
    monkeypatch.setattr(services_of(client.application), "shop_cache", small)
    assert not any(is_kept(day) for day in (1, 1))


def test_a_large_answer_takes_the_place_of_no_other(
    client: FlaskClient, shop: ShopBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Client(client, shop.mint())

    def is_kept(path: str) -> bool:
        return not asks_more(one, path)

    large = "/v1/attribution/daily?range=2026-01-01..2026-03-31"
    size = len(one.get(large).data)
    kept = ShopCache(max_bytes=3 * size)
    monkeypatch.setattr(services_of(client.application), "shop_cache", kept)
    assert [is_kept(path) for path in (PATH, large, large, PATH)] == [False, False, False, True]
    whole = ShopCache(max_bytes=5 * size)
    monkeypatch.setattr(services_of(client.application), "shop_cache", whole)
    assert [is_kept(path) for path in (large, large)] == [False, True]


def test_rows_that_several_answers_read_share_the_room_of_answers() -> None:
    cache, read = ShopCache(max_bytes=8 * shop_cache._OVERHEAD_BYTES), []

    def rows(name: str, version: int = 1) -> list[int]:
        def compute() -> list[int]:
            read.append((name, version))
            return [1, 2]

        return cache.get(name, 7, version, compute)

    assert rows("a") == rows("a") == rows("a", version=2) == [1, 2]
    assert read == [("a", 1), ("a", 2)]
    for number in range(7):
        cache.keep(number, b"an answer", 9, until=1)
    assert [cache.find(6, 0), cache.find(6, 1)] == [b"an answer", None]
    assert rows("a", version=2) == [1, 2]
    assert read == [("a", 1), ("a", 2), ("a", 2)]


def test_a_shop_that_moves_to_another_zone(
    client: FlaskClient, shop: ShopBuilder, clock: Clock
) -> None:
    one = Client(client, shop.mint())
    clock.set("2026-03-31T23:00:00")
    before = one.get("/v1/attribution").get_json()["meta"]["range"]
    with writing(shop.engine) as connection:
        connection.execute(update(shop_table).values(edition=0, timezone="Asia/Tokyo"))
    move(shop)
    after = one.get("/v1/attribution").get_json()["meta"]["range"]
    assert before["to"] == "2026-03-31T23:59:59.999Z"
    assert after["to"] == "2026-04-01T14:59:59.999Z"
