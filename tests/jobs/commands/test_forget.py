"""A person is forgotten: nothing of the person is left in the database, and nothing comes back."""

import json

import pytest
from sqlalchemy import URL

from tests.support.forgetting import left_of
from tests.support.hashing import keyed, marked
from tests.support.import_files import Row, answer, event, order
from tests.support.job_commands import SHOP, Commands

EMAIL = "Ada.Lovelace@mail.example"
VISITOR = "visitor-of-ada"
CUSTOMER = "customer-ada"
CODE = "ONLY-FOR-ADA"
OTHERS = {"visitor_id": "visitor-of-bob"}


def events() -> list[Row]:
    """Two sessions of Ada's own, and one that she shares with Bob, of which he has the first event."""
    own = {"visitor_id": VISITOR, "email": EMAIL}
    alone = {"form_session_id": "session-of-ada"}
    step = {"step_id": "st", "step_index": 3, "step_name": "Named by Ada"}
    day = "2026-01-{:02d}T10:00:00Z".format
    return [
        event(event_id="event-ada-1", occurred_at=day(5), **own, **alone, customer_id=CUSTOMER),
        event(event_id="event-ada-2", type="subscribe", occurred_at=day(5), **own, **alone)
        | {"discount_code": CODE, "utm_content": EMAIL},
        event(event_id="event-ada-3", type="step_view", occurred_at=day(9), **own, **alone) | step,
        answer("only Ada says this", event_id="event-ada-4", occurred_at=day(5), **own, **alone),
        answer(EMAIL, event_id="with-address", occurred_at=day(5), form_session_id="session-5"),
        event(event_id="event-both-1", occurred_at=day(2), form_session_id="both", **OTHERS),
        event(event_id="event-ada-6", occurred_at=day(3), form_session_id="both", **own),
        event(event_id="event-bob-2", type="complete", occurred_at=day(4), **OTHERS)
        | {"form_session_id": "both", "discount_code": "everybody"},
        event(event_id="event-bob-3", type="step_view", occurred_at=day(4), **OTHERS)
        | {**step, "form_session_id": "both", "step_index": 1, "step_name": "Named by Bob"},
    ]


def orders() -> list[Row]:
    """Two versions of Ada's order, and an order of Bob's."""
    own = {"order_id": "order-of-ada", "email": EMAIL, "visitor_id": VISITOR}
    codes = [{"code": CODE.lower()}]
    return [
        order(**own, discount_codes=codes),
        order(**own, updated_at="2026-01-08T00:00:00Z", customer_id=CUSTOMER, test=True),
        order(order_id="order-of-bob", discount_codes=[{"code": "everybody"}], **OTHERS),
    ]


OF_ADA = (VISITOR, CUSTOMER, CODE, "ada-", "of-ada", "Named by Ada", "only Ada says this")


@pytest.fixture
def server(commands: Commands, request: pytest.FixtureRequest) -> URL | None:
    """The server of the warehouse, if it has one."""
    is_file = commands.url.startswith("sqlite")
    return None if is_file else request.getfixturevalue("postgres_server")


def fill(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.take("events", events())
    commands.take("orders", orders())
    commands("rollup")


def forget(commands: Commands, *words: str) -> str:
    return commands("forget", "--shop", "a.example", *words)


def test_nothing_is_left_of_a_person(commands: Commands, server: URL | None) -> None:
    fill(commands)
    hashed = keyed(EMAIL)
    assert set(left_of(commands.url, server, hashed, *OF_ADA)) == {hashed, *OF_ADA}
    assert forget(commands, "--email", EMAIL.lower()).splitlines() == [
        "removed: events 6  versions of orders 2  rejected rows 0",
        f"also seen with customer {CUSTOMER}: 0 rows of it are left; "
        f"forget it with --customer {CUSTOMER}",
        "also seen with visitor v1: 0 rows of it are left; forget it with --visitor v1",
        f"also seen with visitor {VISITOR}: 0 rows of it are left; "
        f"forget it with --visitor {VISITOR}",
    ]
    assert left_of(commands.url, server, hashed, EMAIL, "with-address", *OF_ADA) == []
    assert left_of(commands.url, server, "event-bob-2", "EVERYBODY", "Named by Bob") != []
    assert commands.rows("SELECT rows FROM import_batch ORDER BY batch_id") == [3, 1]
    assert commands.rows("SELECT arguments FROM job_run WHERE job = 'forget'") == [
        "--shop a.example"
    ]
    assert commands("verify", "--all") == "no differences\n"


def test_nothing_comes_back(commands: Commands, server: URL | None) -> None:
    """Neither from the same files nor as another version of an order; and no reject names the person."""
    fill(commands)
    forget(commands, "--visitor", VISITOR)
    hashed = keyed(EMAIL)
    later = order(order_id="order-late", visitor_id=VISITOR, created_at="2026-02-01T00:00:00Z")
    refused = event(event_id="event-ada-7", visitor_id=VISITOR, type="unheard of")
    for kind, rows in (("events", events()), ("orders", [*orders(), later])):
        file = commands.folder / f"{kind}.ndjson"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        counts = json.loads(commands("import", kind, str(file), "--json").splitlines()[-1])
        dropped = {"events": 5, "orders": 3}[kind]
        assert (counts["new"], counts["forgotten"]) == (0, dropped)
        assert counts["duplicate"] == len(rows) - dropped
    file.write_text(json.dumps(refused) + "\n")
    commands("import", "events", str(file), status=3)
    commands("rollup")
    assert left_of(commands.url, server, *OF_ADA) == []
    # The answer and the campaign parameter name the address, and were not the visitor's.
    assert left_of(commands.url, server, hashed) == [hashed]
    assert commands("verify", "--all") == "no differences\n"
    assert commands.rows("SELECT COUNT(*) FROM import_batch WHERE rows = 0") == [0]


def test_another_shop_keeps_its_rows(commands: Commands) -> None:
    fill(commands)
    forget(commands, "--visitor", VISITOR)
    commands.take("shops", [{**SHOP, "shop_id": "b.example"}])
    other = {"shop_id": "b.example", "visitor_id": VISITOR}
    commands.take("events", [event(event_id="1", **other), event(event_id="2", visitor_id=VISITOR)])
    assert commands.rows(f"SELECT event_id FROM raw_event WHERE visitor_id = '{VISITOR}'") == ["1"]


def test_a_dry_run_changes_nothing(commands: Commands) -> None:
    fill(commands)
    printed = forget(commands, "--customer", CUSTOMER, "--dry-run").splitlines()
    shown = marked(EMAIL)
    assert printed[0] == "would remove: events 1  versions of orders 1"
    assert printed[1:] == [
        f"also seen with email {shown}: 5 rows of it are left; forget it with --email {shown}",
        f"also seen with visitor {VISITOR}: 5 rows of it are left; "
        f"forget it with --visitor {VISITOR}",
    ]
    assert commands.rows("SELECT COUNT(*) FROM forgotten") == [0]
    assert commands.rows("SELECT COUNT(*) FROM raw_event") == [9]
    # The command takes what it has shown.
    assert forget(commands, "--email", shown).startswith("removed: events 6  versions of orders 2")


def test_rejects_of_the_person_go(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    rows = [
        event(event_id="1", visitor_id=VISITOR, type="unheard of"),
        event(event_id="2", visitor_id=f"{VISITOR}-2", type="unheard of"),
        event(event_id="3", shop_id="nobody.example", email=EMAIL),
        event(event_id="4", email=EMAIL, type="unheard of"),
    ]
    file = commands.folder / "events.ndjson"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    commands("import", "events", str(file), status=3)
    assert "rejected rows 1" in forget(commands, "--visitor", VISITOR)
    assert "rejected rows 2" in forget(commands, "--email", EMAIL)
    assert commands.rows("SELECT line FROM reject") == [2]


def test_rows_that_are_in_no_figure_yet_go(commands: Commands) -> None:
    """Before any rollup, and while a rebuild waits to go on."""
    commands.take("shops", [SHOP])
    commands.take("events", events())
    forget(commands, "--visitor", VISITOR)
    assert commands.rows("SELECT rows FROM import_batch") == [4]
    commands("rollup")
    commands.take("orders", orders())
    # The edition of a rebuild that was killed: it has applied nothing.
    commands.change(
        "INSERT INTO edition (shop_key, timezone, window_days, logic_version, state) "
        "SELECT shop_key, timezone, window_days, logic_version, 'building' FROM edition"
    )
    forget(commands, "--email", EMAIL)
    commands("rollup")
    assert commands("verify", "--all") == "no differences\n"
    assert commands.rows("SELECT event_id FROM raw_event ORDER BY event_id") == [
        *("event-bob-2", "event-bob-3", "event-both-1")
    ]


def test_an_identifier_is_named(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    for words in ([], ["--visitor", ""]):
        printed = commands("forget", "--shop", "a.example", *words, status=2)
        assert "name the person by --email, --customer or --visitor" in printed
    assert "no shop 'c.example'" in commands(
        "forget", "--shop", "c.example", "--visitor", "v", status=1
    )


def test_a_person_is_forgotten_by_all_identifiers_at_once(commands: Commands) -> None:
    """A row that carries several counts once."""
    fill(commands)
    words = ("--customer", CUSTOMER, "--visitor", VISITOR, "--visitor", "v1", "--email", EMAIL)
    assert forget(commands, *words, "--dry-run") == (
        "would remove: events 6  versions of orders 2\n"
    )
    assert forget(commands, *words) == "removed: events 6  versions of orders 2  rejected rows 0\n"
    assert left_of(commands.url, None, keyed(EMAIL)) == [] if "sqlite" in commands.url else True
    counts = commands.rows("SELECT events, orders FROM forgotten ORDER BY events, orders")
    assert len(counts) == 4
    assert tuple(map(sum, zip(*counts, strict=True))) == (6, 2)
    assert commands("verify", "--all") == "no differences\n"


# All that is left of Ada where her orders stay: which these are, and the code that one used.
OF_ORDERS = ("order-of-ada", CODE)


def revenue(commands: Commands) -> list[tuple[int, ...]]:
    """The sums of the orders of the shop, which hers are a part of."""
    commands("rollup")
    return commands.rows(
        "SELECT SUM(d.orders), SUM(d.gross), SUM(d.refunded) FROM daily_attribution d "
        "JOIN shop s ON s.edition = d.edition"
    )


def test_orders_stay_without_the_person(commands: Commands, server: URL | None) -> None:
    fill(commands)
    later = {"created_at": "2026-01-06T00:00:00Z", "customer_id": CUSTOMER}
    commands.take("orders", [order(order_id="order-of-ada-2", email=EMAIL, **later)])
    before = revenue(commands)
    words = ("--email", EMAIL, "--keep-orders")
    assert forget(commands, *words, "--dry-run").splitlines()[0] == (
        "would remove: events 6  the buyers of versions of orders 3"
    )
    assert forget(commands, *words).splitlines() == [
        "removed: events 6  the buyers of versions of orders 3  rejected rows 0",
        f"also seen with customer {CUSTOMER}: 0 rows of it are left; "
        f"forget it with --keep-orders --customer {CUSTOMER}",
        "also seen with visitor v1: 0 rows of it are left; forget it with --keep-orders --visitor v1",
        f"also seen with visitor {VISITOR}: 0 rows of it are left; "
        f"forget it with --keep-orders --visitor {VISITOR}",
    ]
    gone = (keyed(EMAIL), VISITOR, CUSTOMER, "event-ada-", "Named by Ada", "only Ada says this")
    assert left_of(commands.url, server, *gone, *OF_ORDERS) == list(OF_ORDERS)
    assert revenue(commands) == before
    assert commands("verify", "--all") == "no differences\n"
    # The same files, and another version of her order, which has a refund.
    assert commands.take("events", events())["forgotten"] == 6
    refund = {"refund_id": "r", "created_at": "2026-01-09T00:00:00Z", "amount_cents": 300}
    refunded = order(
        order_id="order-of-ada-2", updated_at="2026-01-09", email=EMAIL, refunds=[refund], **later
    )
    counts = commands.take("orders", [*orders(), refunded])
    assert (counts["new"], counts["replaced"], counts["duplicate"]) == (0, 1, 3)
    ((number, gross, money_back),) = before
    assert revenue(commands) == [(number, gross, money_back + 300)]
    assert left_of(commands.url, server, *gone, *OF_ORDERS) == list(OF_ORDERS)
    assert commands("verify", "--all") == "no differences\n"


def test_the_version_of_an_order_that_stood_stands(commands: Commands) -> None:
    """Two versions of Ada's are of one instant, and one without a buyer is between, below or above them."""
    commands.take("shops", [SHOP])
    versions = [
        order(order_id=f"o{number}", total_cents=total * 7**number, **buyer)
        for number in range(8)
        for total, buyer in ((1, {"visitor_id": VISITOR}), (2, {"email": EMAIL}), (3, {}))
    ]
    commands.take("orders", versions)
    before = revenue(commands)
    forget(commands, "--email", EMAIL, "--visitor", VISITOR, "--keep-orders")
    assert revenue(commands) == before
    assert (
        commands.rows("SELECT 1 FROM raw_order WHERE visitor_id <> '' OR email_sha256 <> ''") == []
    )
    assert commands.take("orders", versions)["duplicate"] == len(versions)
    assert revenue(commands) == before
    assert commands("verify", "--all") == "no differences\n"


def test_imports_of_kept_orders_can_be_undone(commands: Commands) -> None:
    """Two versions differ in the buyer alone. Each import of one of them has what is left of both."""
    commands.take("shops", [SHOP])
    one, two = order(visitor_id=VISITOR), order(visitor_id=VISITOR, customer_id=CUSTOMER)
    for rows in ([one, order(order_id="o2", visitor_id=VISITOR)], [two], [one]):
        commands.take("orders", rows)
    commands("rollup")
    forget(commands, "--visitor", VISITOR, "--keep-orders")
    assert sorted(commands.rows("SELECT order_id FROM raw_order")) == ["o1", "o2"]
    commands.take("orders", [two])
    left = {2: ["o1"], 4: ["o1"], 3: ["o1"], 5: []}
    for import_id, orders_left in left.items():
        commands("imports", "undo", str(import_id))
        assert commands.rows("SELECT order_id FROM raw_order") == orders_left
        assert commands("verify", "--all") == "no differences\n"


def test_addresses_in_other_texts_of_kept_orders_go(commands: Commands, server: URL | None) -> None:
    commands.take("shops", [SHOP])
    refund = {"refund_id": EMAIL, "created_at": "2026-01-04", "amount_cents": 100}
    codes = [{"code": EMAIL, "amount_cents": 5}, {"code": "SAVE", "discount_id": EMAIL}]
    rows = [
        order(order_id=EMAIL, customer_id=EMAIL, utm_content=EMAIL),
        order(
            order_id="o2", discount_codes=codes, utm_term=f"x{marked(EMAIL)}y", utm_source="meta"
        ),
        order(order_id="o3", refunds=[refund], visitor_id="v1"),
    ]
    commands.take("orders", rows)
    before = revenue(commands)
    assert "orders 3" in forget(commands, "--email", EMAIL, "--keep-orders")
    assert left_of(commands.url, server, keyed(EMAIL), "v1.") == []
    assert revenue(commands) == before
    assert commands.take("orders", rows)["duplicate"] == 3
    assert revenue(commands) == before
    kept = commands.rows("SELECT codes, utm_source FROM raw_order WHERE order_id = 'o2'")
    assert kept == [('[["SAVE",0,""]]', "meta")]
    assert commands("verify", "--all") == "no differences\n"
