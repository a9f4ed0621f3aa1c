"""`rejects`: some of them are chosen, summed up by reason, and dismissed; `import` says what comes next."""

import json

from tests.support.import_files import as_ndjson, event, order
from tests.support.job_commands import SHOP, Commands
from warehouse.domain.time import MICROS_PER_SECOND

HINT = "not in the figures yet, and no scheduler runs: `python -m jobs rollup` computes them\n"


def rejected(commands: Commands) -> None:
    """Two orders in a wrong currency, one of an unknown shop, an event without an id."""
    commands.take("shops", [SHOP, {"shop_id": "b.example", "currency": "EUR"}])
    orders = [
        order(order_id="o1", currency="USD"),
        order(order_id="o2", currency="JPY", shop_id="b.example"),
        order(order_id="o3", shop_id="\x1b[31mred.example"),
    ]
    for kind, rows in (("orders", orders), ("events", [event(event_id="")])):
        file = commands.folder / f"{kind}.ndjson"
        file.write_bytes(as_ndjson(rows))
        commands("import", kind, str(file), status=3)


def lines(commands: Commands, *options: str) -> list[int]:
    """The lines of the rejects that are listed."""
    listed = commands("rejects", "--json", *options).splitlines()
    return [json.loads(line)["line"] for line in listed]


def test_chosen_by_kind_file_shop_and_number(commands: Commands) -> None:
    rejected(commands)
    assert lines(commands) == [1, 1, 2, 3]
    assert lines(commands, "--kind", "orders") == [1, 2, 3]
    assert lines(commands, "--kind", "forms") == []
    assert lines(commands, "--file", "events.ndjson") == [1]
    assert lines(commands, "--file", str(commands.folder / "orders.ndjson")) == [1, 2, 3]
    # A part of a name is no name.
    assert lines(commands, "--file", "s.ndjson") == []
    assert lines(commands, "--shop", "a.example") == [1, 1]
    assert lines(commands, "--shop", "b.example", "--kind", "orders") == [2]
    assert lines(commands, "--limit", "2") == [1, 1]
    assert lines(commands, "--kind", "orders", "--limit", "2") == [1, 2]


def test_summed_up_by_reason_with_an_example(commands: Commands) -> None:
    rejected(commands)
    printed = commands("rejects", "--summary")
    file = commands.folder / "orders.ndjson"
    assert printed.splitlines()[:3] == [
        "2 orders currency: … is not the shop's currency (EUR)",
        f"  {file}:1 orders currency: 'USD' is not the shop's currency (EUR)",
        f"      {json.dumps(order(order_id='o1', currency='USD'))}",
    ]
    assert len(printed.splitlines()) == 9
    # Characters that command a terminal are shown, not sent.
    assert "\x1b" not in printed
    found = [json.loads(line) for line in commands("rejects", "--summary", "--json").splitlines()]
    assert [(one["rows"], one["kind"], one["example"]["line"]) for one in found] == [
        (2, "orders", 1),
        (1, "events", 1),
        (1, "orders", 3),
    ]
    of_b = commands("rejects", "--summary", "--shop", "b.example")
    assert of_b.startswith("1 orders currency: … is not")
    assert len(of_b.splitlines()) == 3


def test_dismissed(commands: Commands) -> None:
    rejected(commands)
    assert commands("rejects", "--dismiss", "--shop", "b.example") == "dismissed 1 rejects\n"
    assert lines(commands) == [1, 1, 3]
    assert commands("rejects", "--dismiss", "--kind", "orders") == "dismissed 2 rejects\n"
    assert lines(commands) == [1]
    assert commands("rejects", "--dismiss") == "dismissed 1 rejects\n"
    assert commands("rejects") == ""


def test_tried_again_by_shop(commands: Commands) -> None:
    rejected(commands)
    commands.change("UPDATE shop SET currency = 'JPY' WHERE shop_id = 'b.example'")
    tried = commands("rejects", "--retry", "--shop", "b.example")
    assert tried == "read 1  new 1  duplicate 0  replaced 0  rejected 0\n"
    assert lines(commands) == [1, 1, 3]


def test_one_thing_at_a_time(sqlite_commands: Commands) -> None:
    for options in (("--retry", "--dismiss"), ("--summary", "--limit", "1"), ("--limit", "0")):
        assert "Error: " in sqlite_commands("rejects", *options, status=2)


def test_an_import_says_what_comes_next(sqlite_commands: Commands) -> None:
    commands = sqlite_commands
    file = commands.folder / "rows.ndjson"
    file.write_bytes(as_ndjson([SHOP]))
    assert HINT not in commands("import", "shops", str(file))
    file.write_bytes(as_ndjson([order()]))
    printed = commands("import", "orders", str(file))
    assert printed == HINT + "read 1  new 1  duplicate 0  replaced 0  rejected 0\n"
    # There is nothing new.
    assert HINT not in commands("import", "orders", str(file))
    file.write_bytes(as_ndjson([order(total_cents=1, updated_at="2026-10-01T00:00:00Z")]))
    printed = commands("import", "orders", str(file))
    assert printed == HINT + "read 1  new 0  duplicate 0  replaced 1  rejected 0\n"
    scheduler = commands.start("scheduler")
    commands.wait_until("SELECT COUNT(*) FROM scheduler")
    scheduler.terminate()
    scheduler.finish()
    file.write_bytes(as_ndjson([order(order_id="o2")]))
    assert HINT not in commands("import", "orders", str(file))
    commands.change(f"UPDATE scheduler SET seen_at = seen_at - {601 * MICROS_PER_SECOND}")
    file.write_bytes(as_ndjson([order(order_id="o3"), order(order_id="o4", currency="USD")]))
    assert commands("import", "orders", str(file), status=3) == (
        f"{file}:2 currency: 'USD' is not the shop's currency (EUR)\n"
        "1 rejected; list them all with: python -m jobs rejects\n"
        f"{HINT}"
        "read 2  new 1  duplicate 0  replaced 0  rejected 1\n"
    )
