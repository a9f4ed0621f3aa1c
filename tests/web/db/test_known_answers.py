"""Answers that are given again to a request in the same words: the same, and none from before a change."""

import gzip
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, text, update
from werkzeug.test import TestResponse

from tests.support.clients import Client, statements
from tests.support.commands import start
from tests.support.endpoints import FORM, GETS
from tests.support.fixtures import Clock
from tests.support.import_files import event, order, written
from tests.support.job_commands import Commands
from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder, writing
from warehouse.connections.engine import open_engine
from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.editions.editions import next_version
from warehouse.forms import form_rules
from warehouse.tables import api_key
from web.app import close_app, create_app
from web.auth import api_keys
from web.auth.audit import OPERATOR, Change
from web.http.services import services_of

PATH = "/v1/attribution?range=2026-03-01..2026-03-31"
# A form and notes have a state of their own, which the look-up of a key does not find.
ALWAYS_READ = (f"/v1/forms/{FORM}", "/v1/notes")


def ask(client: Client, path: str = PATH, **headers: str) -> tuple[TestResponse, bool]:
    """An answer, and whether it was known: then SQLAlchemy executes nothing."""
    with statements() as asked:
        answer = client.get(path, **headers)
    return answer, not asked


def make_known(client: Client, path: str = PATH, **headers: str) -> TestResponse:
    """The answer, once it is known. It is kept when it is asked for the second time."""
    for _ in range(2):
        assert not ask(client, path, **headers)[1], path
    answer, is_known = ask(client, path, **headers)
    assert is_known, path
    return answer


def told(answer: TestResponse) -> tuple[int, list[tuple[str, str]], bytes]:
    """All that an answer says, without its id."""
    body, request_id = answer.data, answer.headers["X-Request-Id"].encode()
    if answer.headers.get("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    headers = [(name, value) for name, value in answer.headers if name != "X-Request-Id"]
    return answer.status_code, headers, body.replace(request_id, b"")


@pytest.fixture
def filled(shop: ShopBuilder) -> ShopBuilder:
    shop.form(FORM, name="Größe")
    shop.daily("all_forms", "2026-03-20", form=FORM, events=1)
    shop.daily("attribution", "2026-03-20", type="visitor", orders=3, gross=9)
    return shop


@pytest.mark.parametrize(
    "headers",
    [{}, {"Accept_Encoding": "gzip"}, {"Accept": "text/csv", "Accept_Encoding": "gzip"}],
)
def test_it_is_what_was_answered_before(
    client: FlaskClient,
    filled: ShopBuilder,
    headers: dict[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = Client(client, filled.mint())
    for path in [*GETS, "/v1/attribution/daily?range=2026-01-01..2026-03-31"]:
        answers = [ask(one, path, **headers) for _ in range(4)]
        tag = answers[0][0].headers["ETag"]
        answers += [ask(one, path, **headers, If_None_Match=tag) for _ in range(3)]
        is_known = path not in ALWAYS_READ
        assert [known for _, known in answers] == [
            *(False, False, is_known, is_known),
            *(False, is_known, is_known),
        ], path
        for these in (answers[:4], answers[4:]):
            first = told(these[0][0])
            assert first[0] == (200 if these == answers[:4] else 304)
            assert [told(answer) for answer, _ in these] == [first] * len(these), path
        ids = {answer.headers["X-Request-Id"] for answer, _ in answers}
        lines = [orjson.loads(line) for line in capsys.readouterr().err.splitlines()]
        assert {line["requestId"] for line in lines} == ids
        assert len(ids) == len(lines) == len(answers)
        for line in lines:
            del line["time"], line["requestId"], line["ms"], line["status"]
        assert all(line == lines[0] for line in lines), path


def test_other_words_have_another_answer(client: FlaskClient, filled: ShopBuilder) -> None:
    one, poor = Client(client, filled.mint()), Client(client, filled.mint("discounts:read"))
    make_known(one)
    assert poor.get(PATH).status_code == 403
    assert one.get(PATH, "HEAD").data == b""
    refused(one.get(PATH, Host="a b"), 400, "invalid_host")
    refused(
        one.get(PATH, Authorization=f"Basic {one.headers['Authorization']}"), 401, "unauthorized"
    )
    answer, is_known = ask(one, Origin="https://example.com")
    assert (answer.status_code, is_known) == (200, False)
    with statements() as asked:
        assert client.get(PATH, data=b"a body", headers=one.headers).status_code == 200
    assert asked
    assert ask(one, User_Agent="another")[1]
    # A refusal is never kept.
    for path in (f"{PATH}&unknown=1", "/v1/unknown", "/v1/attribution?range=x"):
        assert not any(ask(one, path)[1] for _ in range(3))


@pytest.mark.parametrize("tagged", [False, True])
def test_a_revoked_key_opens_nothing(
    client: FlaskClient, filled: ShopBuilder, engine: Engine, clock: Clock, tagged: bool
) -> None:
    one = Client(client, filled.mint())
    headers = {"If_None_Match": one.tag(PATH)} if tagged else {}
    for _ in range(2):
        answer = one.get(PATH, **headers)
    assert ask(one, **headers)[1]
    credential = one.get(PATH).get_json()["meta"]["credentialId"]
    with writing(engine) as connection:
        api_keys.revoke(Change(connection, OPERATOR, clock.now), credential)
    refused(one.get(PATH, **headers), 401, "unauthorized")
    assert answer.status_code == (304 if tagged else 200)


def test_a_key_expires_in_its_instant(
    client: FlaskClient, filled: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    one = Client(client, filled.mint(expires_at=clock.now + 10))
    make_known(one)
    clock.now += 9
    assert ask(one)[1]
    clock.now += 1
    refused(one.get(PATH), 401, "unauthorized")
    # So does one whose end comes ahead of it: a rotation leaves the old key for a while.
    other = Client(client, filled.mint())
    assert [ask(other)[1] for _ in range(2)][1]
    with writing(engine) as connection:
        connection.execute(update(api_key).values(revoked_at=clock.now + 10))
    for _ in range(2):
        assert other.get(PATH).status_code == 200
    clock.now += 10
    refused(other.get(PATH), 401, "unauthorized")


def test_the_shop_has_its_own_midnight(client: FlaskClient, engine: Engine, clock: Clock) -> None:
    one = Client(client, ShopBuilder(engine, timezone="America/New_York").mint())
    clock.set("2026-04-01T03:59:59.999999")
    path = "/v1/attribution?range=7d"
    before = make_known(one, path)
    clock.now += 1
    after = one.get(path)
    windows = [answer.get_json()["meta"]["range"]["to"] for answer in (before, after)]
    assert windows == ["2026-04-01T03:59:59.999Z", "2026-04-02T03:59:59.999Z"]
    # A clock that is set back has the day before again.
    clock.now -= 1
    assert told(one.get(path)) == told(before)


def test_the_answer_has_its_own_end(client: FlaskClient, shop: ShopBuilder, clock: Clock) -> None:
    shop.account("meta", "ok", "2026-03-29T18:00:00")
    one = Client(client, shop.mint())
    path = "/v1/ads/spend?range=2026-03-31"
    clock.set("2026-03-31T18:00:00")
    make_known(one, path)
    clock.now += 1
    stale = one.get(path).get_json()["data"]["unavailableProviders"]
    assert [one["reason"] for one in stale] == ["stale"]


def test_another_edition_and_another_version(
    client: FlaskClient, filled: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    one = Client(client, filled.mint())

    def orders() -> int:
        return sum(row["orders"] for row in one.get(PATH).get_json()["data"])

    def change(values: str) -> None:
        with writing(engine) as connection:
            connection.execute(text(f"UPDATE shop SET {values}"))

    make_known(one)
    assert orders() == 3
    filled.daily("attribution", "2026-03-21", type="visitor", orders=1)
    for values, count in (
        (next_version(clock.now), 4),
        (f"edition = 0, {next_version(clock.now)}", 0),
        (f"edition = {filled.edition}, {next_version(clock.now)}", 4),
    ):
        change(values)
        assert [orders() for _ in range(3)] == [count] * 3, values
        assert ask(one)[1]
    change("currency = 'EUR'")
    assert one.get(PATH).get_json()["meta"]["currency"] == "EUR"


def test_notes_and_forms_are_as_they_are_now(client: FlaskClient, filled: ShopBuilder) -> None:
    one = Client(client, filled.mint())

    def write(method: str, path: str, **body: object) -> None:
        answer = client.open(path, method=method, json=body, headers=one.headers)
        assert answer.status_code in (200, 201), answer.text

    def seen() -> list[int]:
        for _ in range(3):
            one.get("/v1/forms")
        return [len(one.get(path).get_json()["data"]) for path in ("/v1/notes", "/v1/forms")]

    assert seen() == [0, 1]
    write("POST", "/v1/notes", date="2026-03-31", text="A sale")
    write("POST", "/v1/forms", name="Another", schema={})
    assert seen() == [1, 2]
    drafts = []
    for number in range(3):
        write("PUT", f"/v1/forms/{FORM}", draft_schema={"number": number})
        drafts.append(one.get(f"/v1/forms/{FORM}").get_json()["data"]["draftSchema"]["number"])
    assert drafts == [0, 1, 2]


def test_an_answer_is_counted_and_limited(
    engine: Engine,
    warehouse_url: str,
    filled: ShopBuilder,
    clock: Clock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RATE_LIMIT", "6/60")
    apps = [create_app(warehouse_url, clock, str(tmp_path / "counts.db")) for _ in range(2)]
    one, elsewhere = (Client(app.test_client(), filled.mint()) for app in apps)
    make_known(one)
    answer, is_known = ask(one)
    assert (is_known, answer.headers["RateLimit"]) == (True, '"default";r=2;t=40')
    assert elsewhere.get(PATH).headers["RateLimit"] == '"default";r=1;t=50'
    assert ask(one)[0].headers["RateLimit"] == '"default";r=0;t=60'
    for client in (one, elsewhere):
        answer = client.get(PATH)
        refused(answer, 429, "rate_limited")
        assert (answer.headers["Retry-After"], answer.headers["RateLimit"]) == (
            "10",
            '"default";r=0;t=10',
        )
    clock.now += 10 * MICROS_PER_SECOND
    answer, is_known = ask(one)
    assert (answer.status_code, is_known) == (200, True)
    for app in apps:
        close_app(app)


def test_the_last_use_of_a_key_is_recorded_and_changes_nothing(
    client: FlaskClient, filled: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    one = Client(client, filled.mint())
    make_known(one)
    clock.now += 3600 * MICROS_PER_SECOND
    assert ask(one)[1]
    services_of(client.application).background_writes.settle()
    with engine.connect() as connection:
        assert connection.execute(text("SELECT last_used_at FROM api_key")).scalar() == clock.now
    assert ask(one)[1]


def test_where_no_look_up_is_made_the_request_is_routed(
    client: FlaskClient, filled: ShopBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Client(client, filled.mint())
    before = make_known(one)
    database = services_of(client.application).database
    look_ups = database._look_ups
    assert look_ups
    held = [look_ups._idle.get() for _ in range(look_ups._idle.qsize())]
    answer, is_known = ask(one)
    assert (told(answer), is_known) == (told(before), False)
    # A connection that has died is opened again by the next one.
    for cursor in held:
        if cursor is not None:
            cursor.connection.close()
        look_ups._idle.put(cursor)
    assert [ask(one)[1] for _ in range(2 * len(held))][-len(held) :] == [True] * len(held)


FIRST = "2026-01-01..2026-01-31"
PATHS = (
    f"/v1/attribution?range={FIRST}",
    f"/v1/revenue/by-form?range={FIRST}",
    f"/v1/forms/funnel?range={FIRST}",
    f"/v1/orders?range={FIRST}",
    f"/v1/customers/ltv?dimension=form&range={FIRST}",
    "/v1/forms",
)


@pytest.fixture
def elsewhere(commands: Commands) -> Callable[..., None]:
    """Runs a command in another process."""

    def run(program: str, *words: str) -> None:
        start(program, *words, settings=commands.settings).finish()

    commands.take("shops", [{"shop_id": "a.example", "currency": "EUR"}])
    form = event()["form_id"]
    commands.take(
        "forms",
        [{"form_id": form, "shop_id": "a.example", "name": "Before", "updated_at": "2026-01-01"}],
    )
    submitted = [
        event(
            event_id=f"{kind}{n}",
            form_session_id=f"s{n}",
            visitor_id=f"v{n}",
            type=kind,
            customer_id=f"c{n}",
        )
        for n in range(2)
        for kind in ("view", "subscribe")
    ]
    commands.take("events", submitted)
    commands.take("orders", [order(order_id=f"o{n}", customer_id=f"c{n}") for n in range(2)])
    commands("rollup")
    return run


def test_what_another_process_writes_is_seen_at_the_next_request(
    commands: Commands, elsewhere: Callable[..., None], tmp_path: Path
) -> None:
    form = event()["form_id"]
    minted = start(
        "web", "keys", "mint", "--shop", "a.example", "--scopes", "analytics:read,customers:read",
        settings=commands.settings,
    ).finish()  # fmt: skip
    key = minted.split()[-1]
    app = create_app(commands.url)
    one = Client(app.test_client(), key)

    def answers() -> list[object]:
        return [one.get(path).get_json()["data"] for path in PATHS]

    def anew() -> list[object]:
        """The same of an application that has nothing in memory."""
        fresh = create_app(commands.url)
        client = Client(fresh.test_client(), key)
        given = [client.get(path).get_json()["data"] for path in PATHS]
        close_app(fresh)
        return given

    def load(kind: str, *rows: dict[str, object]) -> None:
        elsewhere("jobs", "import", kind, str(written(tmp_path / f"more-{kind}.ndjson", [*rows])))

    def leave_out() -> None:
        with writing(engine) as connection:
            shop_key = connection.execute(text("SELECT shop_key FROM shop")).scalar_one()
            form_rules.leave_out(connection, shop_key, form)

    engine = open_engine(commands.url, pooled=True)
    changes: list[tuple[Callable[[], object], bool]] = [
        # Rows alone are in no figure yet.
        (lambda: load("orders", order(order_id="o9", total_cents=50)), False),
        (lambda: elsewhere("jobs", "rollup"), True),
        (
            lambda: load(
                "forms",
                {
                    "form_id": form,
                    "shop_id": "a.example",
                    "name": "After",
                    "updated_at": "2026-02-01",
                },
            ),
            True,
        ),
        (lambda: elsewhere("jobs", "forget", "--shop", "a.example", "--customer", "c1"), True),
        (lambda: elsewhere("jobs", "rollup"), False),
        (leave_out, False),
        (lambda: elsewhere("jobs", "rollup"), True),
        (lambda: elsewhere("jobs", "rebuild"), False),
    ]
    before = answers()
    for number, (change, shows) in enumerate(changes):
        for path in PATHS:
            one.get(path), one.get(path)
            assert ask(one, path)[1], path
        change()
        after = answers()
        assert after == anew(), number
        assert (after != before) == shows, number
        before = after
    credential = one.get(PATHS[0]).get_json()["meta"]["credentialId"]
    for _ in range(3):
        assert one.get(PATHS[0]).status_code == 200
    elsewhere("web", "keys", "revoke", credential)
    refused(one.get(PATHS[0]), 401, "unauthorized")
    engine.dispose()
    close_app(app)
