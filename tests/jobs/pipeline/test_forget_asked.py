"""The requests of members to forget: a refresh ends all of a shop in one pass and one build; the shop's own
rejects."""

import json

import pytest
from sqlalchemy import Engine

from tests.support.import_files import Row, as_ndjson, event, order
from tests.support.job_commands import SHOP, Commands
from warehouse.connections.arrow import ArrowConnection
from warehouse.connections.engine import open_engine
from warehouse.persons import forgotten
from warehouse.persons.forgotten import TooManyWait, identifier_hash, identifier_of
from warehouse.persons.hash_secret import hasher_of_pages

WAITING = "SELECT COUNT(*) FROM forgotten WHERE removed_at = 0"


@pytest.fixture
def engine(commands: Commands) -> Engine:
    commands.take("shops", [SHOP, {**SHOP, "shop_id": "b.example"}])
    return open_engine(commands.url)


def ask(engine: Engine, commands: Commands, kind: str, *texts: str) -> None:
    """As the Data page of a.example does."""
    (shop_key,) = commands.rows("SELECT shop_key FROM shop WHERE shop_id = 'a.example'")
    for number, text in enumerate(texts):
        with engine.connect().execution_options(writes=True) as connection:
            hasher = hasher_of_pages(connection)
            hashed = identifier_hash(hasher, identifier_of(hasher, kind, text))
            forgotten.ask(connection, shop_key, hashed, 1_000_000 + number)
            connection.commit()


def test_a_refresh_ends_all_requests_of_a_shop_with_one_look_at_its_rows_and_one_build(
    commands: Commands, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands.take(
        "events",
        [event(event_id=f"e{n}", form_session_id=f"s{n}", visitor_id=f"v{n}") for n in range(30)],
    )
    commands("rollup")
    (newest,) = commands.rows("SELECT MAX(edition) FROM edition")
    ask(engine, commands, "visitor", *(f"v{number}" for number in range(25)))
    statements: list[str] = []
    table = ArrowConnection.table

    def counted(self: ArrowConnection, query: str, *values: int | str) -> object:
        statements.append(query)
        return table(self, query, *values)

    monkeypatch.setattr(ArrowConnection, "table", counted)
    said = commands("rollup", "--refresh")
    assert "removed persons: 25  events 25  versions of orders 0" in said
    looks = [query for query in statements if query.startswith("SELECT DISTINCT visitor_id")]
    assert len(looks) == 2, "one at events, one at orders"
    assert commands.rows(WAITING) == [0]
    left = [f"v{number}" for number in range(25, 30)]
    assert commands.rows("SELECT visitor_id FROM raw_event ORDER BY visitor_id") == left
    own = "SELECT edition FROM shop WHERE shop_id = 'a.example'"
    assert commands.rows(own) == commands.rows("SELECT MAX(edition) FROM edition") == [newest + 1]
    assert commands("verify", "--all") == "no differences\n"


def test_a_row_counts_for_the_first_who_is_forgotten(commands: Commands, engine: Engine) -> None:
    both = {"visitor_id": "v1", "customer_id": "c1"}
    commands.take(
        "events",
        [
            event(event_id="1", **both),
            event(event_id="2", form_session_id="s2", customer_id="c1"),
            event(
                event_id="3", form_session_id="s3", visitor_id="v3", utm_content="ada@mail.example"
            ),
            event(event_id="4", form_session_id="s4", visitor_id="v1"),
        ],
    )
    commands.take("orders", [order(**both), order(order_id="o2", email="ada@mail.example")])
    commands("rollup")
    ask(engine, commands, "customer", "c1")
    commands.change("UPDATE forgotten SET asked_at = 1")
    ask(engine, commands, "visitor", "v1")
    ask(engine, commands, "email", "Ada@mail.example ")
    ask(engine, commands, "visitor", "nobody")
    commands("rollup", "--refresh")
    counts = commands.rows("SELECT events, orders FROM forgotten ORDER BY asked_at, events")
    assert sorted(counts) == [(0, 0), (1, 0), (1, 1), (2, 1)]
    assert commands.rows("SELECT COUNT(*) FROM raw_event") == [0]
    assert commands("verify", "--all") == "no differences\n"


def test_a_shop_has_so_many_requests_that_wait(commands: Commands, engine: Engine) -> None:
    ask(engine, commands, "visitor", *(f"v{number}" for number in range(100)))
    with pytest.raises(TooManyWait):
        ask(engine, commands, "visitor", "one more")
    # A request that waits already is none more.
    ask(engine, commands, "visitor", "v7")
    assert commands.rows(WAITING) == [100]
    commands("rollup", "--refresh")
    ask(engine, commands, "visitor", "one more")
    assert commands.rows(WAITING) == [1]


def rejected(commands: Commands, rows: list[Row], name: str = "orders") -> None:
    file = commands.folder / "in.ndjson"
    file.write_bytes(as_ndjson(rows))
    commands("import", name, str(file), status=3)


def test_a_member_touches_rejects_of_the_own_shop_alone(commands: Commands, engine: Engine) -> None:
    typo = {"shop_id": "typo-of-b.example", "currency": "EUR", "customer_id": "c1"}
    rejected(
        commands,
        [
            *(order(**typo, order_id=f"o{number}") for number in range(3)),
            order(order_id="o4", customer_id="EUR", total_cents="many"),
            order(order_id="o5", customer_id="c1", total_cents="many", shop_id="b.example"),
        ],
    )
    ask(engine, commands, "customer", "EUR", "shop_id", "typo-of-b.example", "c1")
    commands("rollup", "--refresh")
    assert commands.rows("SELECT line FROM reject ORDER BY line") == [1, 2, 3, 5]
    # Rows that come later and may be of another shop are kept, too.
    commands("rejects", "--dismiss")
    rejected(commands, [order(**typo), order(customer_id="EUR", total_cents="many", order_id="o4")])
    assert commands.rows("SELECT line FROM reject WHERE line > 0") == [1]


def test_the_command_takes_rejects_of_no_known_shop_by_fields_alone(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    nobody = {"shop_id": "nobody.example"}
    rejected(
        commands,
        [
            event(event_id="c1", **nobody, visitor_id="v1", value="v1"),
            event(event_id="2", **nobody, customer_id="c1", visitor_id="v2"),
            event(event_id="3", **nobody, visitor_id="v2", discount_code="c1", customer_id="c10"),
            event(event_id="4", **nobody, visitor_id="v2", customer_id='q"c1'),
            event(event_id="5", **nobody, visitor_id="v2", customer_id=1234),
        ],
        "events",
    )
    # Nothing is kept of a line that cannot be decoded: nobody is found in it, and it stays.
    file = commands.folder / "broken.ndjson"
    file.write_text('{"customer_id": "c1", "visitor_id": "v3"\n')
    commands("import", "events", str(file), status=3)
    assert len(commands.rows("SELECT line FROM reject")) == 6

    def forget(kind: str, text: str) -> str:
        return commands("forget", "--shop", "a.example", f"--{kind}", text).splitlines()[0]

    assert forget("customer", "shop_id").endswith("rejected rows 0")
    assert forget("customer", "nobody.example").endswith("rejected rows 0")
    assert forget("visitor", "c1").endswith("rejected rows 0")
    assert forget("customer", "c1").endswith("rejected rows 1")
    assert forget("customer", 'q"c1').endswith("rejected rows 1")
    assert forget("customer", "1234").endswith("rejected rows 1")
    assert forget("visitor", "v1").endswith("rejected rows 1")
    kept = commands.rows("SELECT text FROM reject")
    assert "***" in kept
    texts = [json.loads(text) for text in kept if text != "***"]
    assert [row["event_id"] for row in texts] == ["3"]


def test_a_run_that_was_killed_is_ended_as_it_was_begun(commands: Commands, engine: Engine) -> None:
    """It kept the orders of one person; another member asked for one whose orders go."""
    commands.take("orders", [order(order_id=f"o{name}", visitor_id=name) for name in ("v1", "v2")])
    commands("rollup")
    ask(engine, commands, "visitor", "v1", "v2")
    commands.change("UPDATE forgotten SET keeps_orders = 1 WHERE asked_at = 1000000")
    said = commands("rollup", "--refresh")
    assert "removed persons: 2  events 0  versions of orders 2" in said
    assert commands.rows("SELECT order_id, visitor_id FROM raw_order") == [("ov1", "")]
    assert sorted(commands.rows("SELECT orders FROM forgotten")) == [0, 1]
    assert commands("verify", "--all") == "no differences\n"
