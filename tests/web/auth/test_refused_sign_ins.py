"""Refused sign-ins in the audit trail: each attack leaves a trace, and none fills the trail."""

import json

from click.testing import CliRunner
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Clock
from tests.support.people import Browser, add_member, await_background_writes
from tests.support.shop_builder import ShopBuilder, writing
from warehouse.domain.time import MICROS_PER_SECOND
from web.auth import audit, members
from web.auth.audit import OPERATOR, AuditEvent, Change
from web.auth.sign_in import record_refusal
from web.auth.sign_in_limits import PER_ACCOUNT_AND_NETWORK, Attempt
from web.cli import main

ADA = "ada@example.com"
HOUR = 3600 * MICROS_PER_SECOND


def refused(engine: Engine, shop_id: str | None = None) -> list[AuditEvent]:
    with engine.connect() as connection:
        events = audit.list_events(connection, shop_id)
    return [event for event in events if event.action == "sign_in_refused"]


def test_refused_sign_ins_are_one_event_per_account_and_network(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, clock: Clock, warehouse_url: str
) -> None:
    add_member(engine, shop)
    other = ShopBuilder(engine, "other.myshopify.com")
    add_member(engine, other)
    stranger = Browser(client, REMOTE_ADDR="2001:db8:1:2::7")
    attempts = PER_ACCOUNT_AND_NETWORK.times + 2  # the last are not checked, and count here too
    for _ in range(attempts):
        stranger.sign_in(password="a wrong password")
    Browser(client, REMOTE_ADDR="192.0.2.1").sign_in(password="a wrong password")
    Browser(client, REMOTE_ADDR="192.0.2.1").sign_in("nobody@example.com")
    await_background_writes(client)
    for shop_id in (shop.shop_id, other.shop_id):
        assert [
            (event.actor, event.detail, event.source_ip, event.times)
            for event in refused(engine, shop_id)
        ] == [
            ("unknown", ADA, "192.0.2.1", 1),
            ("unknown", ADA, "2001:db8:1:2::/64", attempts),
        ]
    assert len(refused(engine)) == 4
    page = Browser(client).signed_in().get("/settings/activity").get_data(as_text=True)
    assert f"<strong>Refused a sign-in, {attempts} times</strong> {ADA}" in page
    assert "unknown, from 2001:db8:1:2::/64" in page

    at = {"WAREHOUSE_URL": warehouse_url}
    listed = CliRunner().invoke(main, ["audit", "--shop", shop.shop_id], env=at).stdout
    assert f"unknown  2001:db8:1:2::/64  Refused a sign-in, {attempts} times  {ADA}\n" in listed
    lines = CliRunner().invoke(main, ["audit", "--json"], env=at).stdout.splitlines()
    assert attempts in [json.loads(line)["times"] for line in lines]


def test_an_attack_of_many_networks_does_not_fill_the_trail(
    engine: Engine, shop: ShopBuilder, ada: str, clock: Clock
) -> None:
    with writing(engine) as connection:
        for host in range(200):
            record_refusal(connection, Attempt(ADA, f"192.0.2.{host}"), clock.now)
    events = refused(engine)
    assert len(events) == 21
    assert (events[0].source_ip, events[0].times) == ("other networks", 180)
    with writing(engine) as connection:
        clock.now += HOUR - 1
        record_refusal(connection, Attempt(ADA, "192.0.2.1"), clock.now)
        clock.now += 1
        record_refusal(connection, Attempt(ADA, "192.0.2.1"), clock.now)
    assert [event.times for event in refused(engine) if event.source_ip == "192.0.2.1"] == [1, 2]


def test_a_disabled_member_has_a_trace_too(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, ada: str
) -> None:
    with writing(engine) as connection:
        person = members.find(connection, shop.shop_id, ada)
        members.disable(Change(connection, OPERATOR, 0), person)
    Browser(client).sign_in()
    await_background_writes(client)
    assert [event.times for event in refused(engine)] == [1]
