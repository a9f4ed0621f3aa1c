"""Sign-ins remember their last use."""

from flask.testing import FlaskClient
from sqlalchemy import Engine, insert, select

from tests.support.fixtures import Clock
from tests.support.people import ACCOUNT, Browser, await_background_writes
from tests.support.shop_builder import writing
from warehouse.tables import sign_in
from web.auth.sessions import SEEN_INTERVAL, record_use, token_hash


def seen_at(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(select(sign_in.c.seen_at)).scalar_one())


def test_a_use_is_recorded_when_the_last_one_is_a_minute_old(
    client: FlaskClient, engine: Engine, ada: str, clock: Clock
) -> None:
    browser, begun = Browser(client).signed_in(), clock.now
    for wait, recorded in ((SEEN_INTERVAL - 1, begun), (1, begun + SEEN_INTERVAL)):
        clock.now += wait
        browser.get(ACCOUNT)
        await_background_writes(client)
        assert seen_at(engine) == recorded


def test_a_use_that_is_written_late_sets_no_later_one_back(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(insert(sign_in), {"token_hash": token_hash("token"), "seen_at": 5})
        for use in (7, 6):
            record_use(connection, "token", use)
    assert seen_at(engine) == 7
