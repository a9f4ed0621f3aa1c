"""A read replica that lags, is down, cancels or lacks something; a real one that streams from its primary."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support import postgres
from tests.support.clients import Client, statements
from tests.support.endpoints import FORM, GETS, OTHER
from tests.support.people import ACCOUNT, CONNECTIONS, Browser, add_member
from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder, known_shop, writing
from tests.web.db.conftest import PATH, RANGE, Service
from warehouse.connections.engine import open_engine
from warehouse.migrations.migrate import HEAD
from web.app import close_app, create_app
from web.auth import api_keys, members
from web.auth.audit import OPERATOR, Change

NOBODY = "postgresql+psycopg://nobody@127.0.0.1:1/nothing"
HTML = {"Accept": "text/html"}
# Every page of figures.
PAGES = ("/", "/forms", f"/forms/{FORM}", "/revenue", "/discounts", "/ads", "/customers")


def test_figures_tags_and_versions_are_of_one_snapshot(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = service.client
    service.order("2026-03-01")
    monkeypatch.delenv("READ_WAREHOUSE_URL")
    primary = Client(create_app(clock=service.clock).test_client(), "")
    primary.headers = client.headers
    with service.lag():
        before = {path: client.get(path) for path in GETS}
        assert {answer.status_code for answer in before.values()} == {200}
        old_tag, old_through = before["/v1/attribution"].headers["ETag"], _through(client)
        service.clock.now += 1_000_000
        service.order("2026-03-02")
        new_tag = primary.tag(PATH)
        assert _orders(primary) == 2
        # The first answer came from the cache of the process, the second one is read.
        for path in (PATH, f"/v1/attribution?{RANGE}&format=json"):
            assert _orders(client, path) == 1
            assert client.has(path, client.tag(path))
            assert not client.has(path, new_tag)
        assert client.has("/v1/attribution", old_tag)
        assert _through(client) == old_through < _through(primary)
    assert not client.has("/v1/attribution", old_tag)
    assert client.has(PATH, new_tag)
    assert _orders(client) == 2
    assert _through(client) == _through(primary)
    close_app(primary._client.application)


def test_keys_are_those_of_the_primary(service: Service) -> None:
    with service.lag():
        minted = Client(service.app.test_client(), service.shop.mint())
        assert minted.get(PATH).status_code == 200
        credential_id = minted.get(PATH).get_json()["meta"]["credentialId"]
        tag = minted.tag(PATH)
        with writing(service.engine) as connection:
            api_keys.revoke(Change(connection, OPERATOR, service.clock.now), credential_id)
        for known in ("", tag, "*"):
            refused(minted.get(PATH, If_None_Match=known), 401, "unauthorized")
        narrow = Client(service.app.test_client(), service.shop.mint("discounts:read"))
        assert narrow.get(PATH).status_code == 403


def test_forms_are_those_of_the_primary(service: Service) -> None:
    client = service.client
    assert [form["id"] for form in _data(client, "/v1/forms")] == [FORM]
    with service.lag():
        created = service.post("/v1/forms", name="New", schema={"a": 1})["id"]
        assert [form["id"] for form in _data(client, "/v1/forms")] == [created, FORM]
        assert _data(client, f"/v1/forms/{created}")["draftSchema"] == {"a": 1}
        tag = client.tag(f"/v1/forms/{created}")
        service.post(f"/v1/forms/{created}", "PUT", draft_schema={"a": 2})
        assert _data(client, f"/v1/forms/{created}")["draftSchema"] == {"a": 2}
        assert not client.has(f"/v1/forms/{created}", tag)
        # Its figures are not there yet, which is not to say that there is no such form.
        answer = client.get(f"/v1/forms/{created}/funnel")
        refused(answer, 503, "unavailable")
        assert "does not have this form yet" in answer.text
        refused(client.get(f"/v1/forms/{OTHER}/funnel"), 404, "not_found")
    assert _data(client, f"/v1/forms/{created}/funnel")["views"] == 0


def test_sign_ins_and_permissions_are_those_of_the_primary(service: Service) -> None:
    with service.lag():
        add_member(service.engine, service.shop, "bob@example.com")
        bob = Browser(service.app.test_client()).signed_in("bob@example.com")
        ada = service.browser()
        for page in PAGES:
            assert ada.get(page, headers=HTML).status_code == 200, page
        copied = service.browser()
        cookie = ada.client.get_cookie("member")
        assert cookie
        copied.client.set_cookie("member", cookie.value)
        assert copied.get("/forms").status_code == 200
        assert ada.post("/settings/sign-out", page=ACCOUNT).status_code == 302
        assert copied.get("/forms").status_code == 302
        with writing(service.engine) as connection:
            member = members.find(connection, service.shop.shop_id, "bob@example.com")
            members.set_permissions(Change(connection, OPERATOR, service.clock.now), member, ())
        assert bob.get("/discounts").status_code == 403
        with writing(service.engine) as connection:
            members.disable(Change(connection, OPERATOR, service.clock.now), member)
        assert bob.get("/forms").status_code == 302


def test_pages_show_figures_of_the_replica_and_what_members_wrote(service: Service) -> None:
    browser = service.browser()
    service.order("2026-03-01")
    with service.lag():
        service.order("2026-03-02")
        assert "$1.00" in browser.get(f"/revenue?{RANGE}").text
        key = browser.mint("analytics:read")
        assert key[:8] in browser.get(CONNECTIONS).text
        assert browser.post("/data/retry", page="/data").status_code == 302
        assert "wait to be imported again" in browser.get("/data").text
    assert "$2.00" in browser.get(f"/revenue?{RANGE}").text


def test_a_request_for_figures_asks_the_primary_for_its_key_alone(service: Service) -> None:
    service.client.get(PATH)
    asked: list[str] = []
    with statements() as seen:
        service.client.get(f"{PATH}&format=csv")
        asked = [text for text in seen if not text.startswith("BEGIN")]
    assert ["key_hash" in text for text in asked] == [True, False]


def test_a_replica_that_is_down(service: Service) -> None:
    browser = service.browser()
    service.order("2026-03-01")
    assert service.orders() == 1
    service.standby.stop()
    try:
        answer = service.client.get(PATH)
        refused(answer, 503, "unavailable")
        assert answer.headers["Retry-After"] == "1"
        refused(service.client.get(PATH, If_None_Match="*"), 503, "unavailable")
        page = browser.get("/revenue")
        assert (page.status_code, page.headers["Refresh"]) == (503, "5")
        assert service.client.get("/v1/forms").status_code == 200
        assert browser.get(CONNECTIONS).status_code == 200
        assert browser.get("/data").status_code == 200
        assert service.message() == "The read replica does not answer."
    finally:
        service.standby.start()
    assert service.orders() == 1
    assert browser.get("/revenue").status_code == 200
    ready = service.app.test_client().get("/readyz")
    assert ready.status_code == 200


def test_a_primary_that_is_down(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", NOBODY)
    app = create_app(clock=service.clock)
    refused(app.test_client().get(PATH, headers=service.client.headers), 503, "unavailable")
    answer = app.test_client().get("/readyz")
    refused(answer, 503, "unavailable")
    assert answer.get_json()["error"]["message"] == "The warehouse does not answer."
    close_app(app)
    monkeypatch.setenv("READ_WAREHOUSE_URL", NOBODY)
    app = create_app(clock=service.clock)
    answer = app.test_client().get("/readyz")
    assert answer.get_json()["error"]["message"] == (
        "The warehouse does not answer. The read replica does not answer."
    )
    close_app(app)


def test_a_query_that_conflicts_with_recovery(service: Service) -> None:
    """The replica cancels a query whose rows the primary has vacuumed away."""
    service.order("2026-03-01")
    # The query takes long enough.
    for statement in (
        "ALTER TABLE daily_attribution RENAME TO slow",
        "CREATE VIEW daily_attribution AS SELECT slow.* FROM slow, (SELECT pg_sleep(60)) AS pause",
    ):
        postgres.administer(service.engine.url, statement)
    service.standby.resume()
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(service.client.get, PATH)
        sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        service.standby.wait_for(lambda: service.standby.ask(sleeping))
        service.standby.pause()
        for statement in ("UPDATE shop SET name = 'x'", "VACUUM shop"):
            postgres.administer(service.engine.url, statement)
        service.standby.resume()
        refused(answer.result(), 503, "unavailable")
    for statement in (
        "DROP VIEW daily_attribution",
        "ALTER TABLE slow RENAME TO daily_attribution",
    ):
        postgres.administer(service.engine.url, statement)
    service.standby.resume()
    assert "canceling statement due to conflict with recovery" in service.standby.log()
    assert service.orders() == 1


def test_a_replica_whose_schema_is_behind(service: Service) -> None:
    postgres.administer(service.engine.url, "UPDATE alembic_version SET version_num = 'old'")
    with service.lag():
        postgres.administer(
            service.engine.url, f"UPDATE alembic_version SET version_num = '{HEAD}'"
        )
        for path in (PATH, f"/v1/attribution/daily?{RANGE}"):
            answer = service.client.get(path)
            refused(answer, 503, "unavailable")
            assert "does not have this program's schema" in answer.text
        assert service.client.get("/v1/forms").status_code == 200
        assert "read replica does not have this program's schema" in service.message()
    assert service.orders() == 0
    assert service.app.test_client().get("/readyz").status_code == 200


def test_a_shop_that_the_replica_does_not_have_yet(service: Service) -> None:
    with service.lag():
        new = ShopBuilder(service.engine, "new.example")
        client = Client(service.app.test_client(), new.mint())
        answer = client.get(PATH)
        refused(answer, 503, "unavailable")
        assert "does not have this shop yet" in answer.text
        assert _data(client, "/v1/forms") == []
    assert _orders(client) == 0


def test_a_replica_of_another_warehouse(
    service: Service, template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its shop of the same number is another one."""
    with postgres.new_database(service.standby.primary, template) as url:
        engine = open_engine(url)
        other = ShopBuilder(engine, "other.example")
        other.daily("attribution", "2026-03-01", type="visitor", orders=7)
        assert known_shop(engine, "other.example").key == service.shop.key
        monkeypatch.setenv("READ_WAREHOUSE_URL", url)
        app = create_app(clock=service.clock)
        refused(app.test_client().get(PATH, headers=service.client.headers), 503, "unavailable")
        close_app(app)
        engine.dispose()


def _data(client: Client, path: str) -> Any:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.get_json()["data"]


def _orders(client: Client, path: str = PATH) -> int:
    return sum(row["orders"] for row in _data(client, path))


def _through(client: Client) -> str:
    return str(client.get(PATH).get_json()["meta"]["dataThrough"])
