"""Conditional requests: what each answer depends on, and 304 for who has it. Now is 2026-03-31 12:00."""

from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.clients import Client, statements
from tests.support.endpoints import FORM, GETS, OTHER
from tests.support.fixtures import Clock
from tests.support.shop_builder import ShopBuilder

UNRANGED = ("/v1/forms", f"/v1/forms/{FORM}")
PAST = "range=2026-01-01..2026-01-31"


def test_every_get_has_validators_and_is_not_repeated(
    client: FlaskClient, shop: ShopBuilder
) -> None:
    shop.form(FORM)
    shop.account("meta", "ok", "2026-03-31T10:00:00")
    one = Client(client, shop.mint())
    tags = set()
    for path in GETS:
        answer = one.get(path)
        tag = answer.headers["ETag"]
        assert tag.startswith('W/"'), path
        assert tag.endswith('"'), path
        assert answer.headers["Cache-Control"] == "private, no-cache", path
        assert answer.headers["Vary"] == "Authorization, Accept, Accept-Encoding", path
        assert answer.headers["Last-Modified"].endswith(" GMT"), path
        assert one.get(path, "HEAD").headers["ETag"] == tag, path
        for known in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
            with statements() as asked:
                repeated = one.get(path, If_None_Match=known)
            assert (repeated.status_code, repeated.data) == (304, b""), (path, known)
            assert not [text for text in asked if "daily_" in text], path
            for name in ("ETag", "Cache-Control", "Vary"):
                assert repeated.headers[name] == answer.headers[name], path
            assert repeated.headers["X-Request-Id"]
            assert "Content-Type" not in repeated.headers
        assert one.get(path, "HEAD", If_None_Match=tag).status_code == 304
        for unknown in ('W/"other"', "", "other", tag[:-2] + '"'):
            assert not one.has(path, unknown), (path, unknown)
        tags.add(tag)
    assert len(tags) == len(GETS)
    # Other answers have nothing to be compared by.
    same = f"/v1/forms/{FORM}/cross-field?fieldA=a&fieldB=a"
    for path in ("/v1/forms?limit=0", same, f"/v1/forms/{OTHER}", "/v1/nothing"):
        assert "ETag" not in one.get(path, If_None_Match="*").headers


def test_a_tag_is_that_of_what_was_asked_and_by_whom(
    client: FlaskClient, shop: ShopBuilder, engine: Engine
) -> None:
    shop.form(FORM)
    theirs = ShopBuilder(engine, "other.myshopify.com")
    theirs.form(FORM)
    one, other, stranger = (Client(client, at.mint()) for at in (shop, shop, theirs))
    different = [
        *GETS,
        f"/v1/forms/funnel?form_ids={FORM}",
        f"/v1/forms/funnel?form_ids={OTHER}",
        "/v1/forms?limit=7",
        "/v1/forms?cursor=x",
        "/v1/attribution?range=7d",
        "/v1/attribution?range=2026-03-31",
        f"/v1/forms/{FORM}/cross-field?fieldA=b&fieldB=a",
        "/v1/revenue/by-utm?dimension=hierarchy",
        "/v1/customers/ltv?dimension=segment",
    ]
    tags = [caller.tag(path) for caller in (one, other, stranger) for path in different]
    assert len(set(tags)) == len(tags)
    for same in (
        (f"/v1/forms/funnel?form_ids={FORM},{OTHER}", f"/v1/forms/funnel?form_ids={OTHER},{FORM}"),
        ("/v1/forms?limit=200", "/v1/forms?limit=201"),
        ("/v1/attribution?range=2026-03-25..2026-03-31", "/v1/attribution?range=7d"),
        (f"/v1/forms/{FORM}/funnel", f"/v1/forms/{FORM.upper()}/funnel"),
    ):
        first, second = map(one.tag, same)
        assert first == second, same


def test_the_day_changes_what_it_moves(client: FlaskClient, engine: Engine, clock: Clock) -> None:
    shop = ShopBuilder(engine, timezone="America/New_York")
    shop.form(FORM)
    one = Client(client, shop.mint())

    def asked(window: str) -> list[str]:
        ranged = [path for path in GETS if path not in UNRANGED]
        return [f"{path}{'&' if '?' in path else '?'}{window}" for path in ranged]

    settled = "range=2024-01-01..2024-01-31"
    clock.set("2026-04-01T03:59:59.999999")
    before = {path: one.tag(path) for path in [*GETS, *asked(PAST), *asked(settled)]}
    clock.set("2026-03-31T04:00:00")
    assert {path: one.tag(path) for path in before} == before
    clock.set("2026-04-01T04:00:00")
    moved = {path for path, tag in before.items() if one.tag(path) != tag}
    # All state a window that is today's; beside those, horizons that are not over.
    assert moved == {*GETS, f"/v1/customers/ltv?dimension=form&{PAST}"}


def test_ad_spend_changes_in_the_instant_in_which_an_account_gets_stale(
    client: FlaskClient, shop: ShopBuilder, clock: Clock
) -> None:
    shop.account("meta", "ok", "2026-03-29T18:00:00")
    shop.account("google", "ok", "2026-03-29T20:00:00")
    shop.account("tiktok", "error", "2026-03-29T19:00:00")
    one = Client(client, shop.mint())
    path = "/v1/ads/spend?range=2026-03-31"
    seen = []
    for at in (
        "2026-03-31T12:00:00",
        "2026-03-31T18:00:00",
        "2026-03-31T18:00:00.000001",
        "2026-03-31T20:00:00",
        "2026-03-31T20:00:00.000001",
        "2026-03-31T23:59:59",
        # The range is over: from now on what counts is its end.
        "2026-04-01T00:00:00",
        "2026-05-01T00:00:00",
    ):
        clock.set(at)
        answer = one.get(path)
        stale = len(answer.get_json()["data"]["unavailableProviders"])
        seen.append((stale, answer.headers["ETag"]))
    assert [stale for stale, _ in seen] == [1, 1, 2, 2, 3, 3, 3, 3]
    assert len(set(seen)) == len({tag for _, tag in seen}) == 3
    quiet = "/v1/ads/spend?range=2026-03-01"
    clock.set("2026-03-31T12:00:00")
    tag = one.tag(quiet)
    clock.set("2026-03-31T23:00:00")
    assert one.has(quiet, tag)


def test_figures_date_from_the_last_change(
    client: FlaskClient, shop: ShopBuilder, clock: Clock
) -> None:
    one = Client(client, shop.mint())
    clock.set("2026-03-31T12:00:00.9")
    created = client.post(
        "/v1/forms", json={"name": "A form", "schema": {}}, headers=one.headers
    ).headers["Location"]
    clock.set("2026-04-02T12:00:00")
    for path in ("/v1/attribution", "/v1/forms", created):
        answer = one.get(path)
        assert answer.headers["Last-Modified"] == "Tue, 31 Mar 2026 12:00:00 GMT"
    # Never later than the answer itself, whatever an import says of a form.
    shop.form(FORM, updated_at=clock.now + 10**9)
    answer = one.get(f"/v1/forms/{FORM}")
    assert answer.headers["Last-Modified"] == "Thu, 02 Apr 2026 12:00:00 GMT"
