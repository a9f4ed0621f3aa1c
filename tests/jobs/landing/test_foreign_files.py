"""Files of other systems at the command line and in the landing folder."""

import json

from jobs.landing import folder
from tests.support.exports import ecb
from tests.support.hashing import keyed, marked
from tests.support.import_files import SAMPLES, answer, order, written
from tests.support.job_commands import Commands

ORDERS = SAMPLES / "shopify.json"
A = {"shop_id": "a.example", "currency": "EUR"}
B = {"shop_id": "b.example", "currency": "USD"}
COUNTS = {"read": 6, "new": 4, "duplicate": 0, "replaced": 0, "rejected": 2, "rounded": 1}


def last(output: str) -> dict[str, int]:
    found: dict[str, int] = json.loads(output.splitlines()[-1])
    return found


def test_the_only_shop_is_meant(sqlite_commands: Commands) -> None:
    sqlite_commands.take("shops", [A])
    printed = sqlite_commands("import", "orders", str(ORDERS), "--json", status=3)
    assert last(printed) == COUNTS
    printed = sqlite_commands("import", "orders", str(ORDERS), status=3)
    assert printed.splitlines()[-1] == (
        "read 6  new 0  duplicate 4  replaced 0  rejected 2  rounded 1"
    )


def test_of_several_shops_one_is_named(sqlite_commands: Commands) -> None:
    words = ("import", "orders", str(ORDERS))
    assert "there is none: import it first (kind shops)\n" in sqlite_commands(*words, status=1)
    sqlite_commands.take("shops", [A, B])
    said = sqlite_commands(*words, status=2).splitlines()[-1]
    assert said == (
        f"Error: {ORDERS}: files of shopify do not name their shop, and there are 2: "
        "name it with --shop ID (in the landing folder: orders/shopify/ID/); the shops are a.example, "
        "b.example"
    )
    assert "no shop 'c.example'" in sqlite_commands(*words, "--shop", "c.example", status=1)
    own = written(sqlite_commands.folder / "own.ndjson", [order()])
    said = sqlite_commands("import", "orders", str(own), "--shop", "a.example", status=1)
    assert "--shop is for exports of other systems; rows of this program name their shop" in said
    sqlite_commands(*words, "--shop", "b.example", status=3)
    assert sqlite_commands.rows("SELECT shop_key, order_id FROM raw_order") == [(2, "5005")]


def test_a_format_is_one_of_the_kind(sqlite_commands: Commands) -> None:
    said = sqlite_commands("import", "events", str(ORDERS), "--format", "shopify", status=2)
    assert "shopify is a format of orders, not of events" in said
    sqlite_commands.take("shops", [A])
    said = sqlite_commands("import", "events", str(ORDERS), status=1)
    advice = (
        "; import it as orders, without --format or with --format shopify "
        "(in the landing folder: orders/shopify/)"
    )
    assert said == f"Error: {ORDERS}: looks like shopify (orders), not like events{advice}\n"
    said = sqlite_commands("import", "orders", str(ORDERS), "--format", "shopify-bulk", status=1)
    assert said == f"Error: {ORDERS}: looks like shopify (orders), not like shopify-bulk{advice}\n"


def test_a_dry_run_shows_and_writes_nothing(commands: Commands) -> None:
    commands.take("shops", [A])
    tables = ("raw_order", "reject", "import_batch", "job_run")
    before = [commands.rows(f"SELECT COUNT(*) FROM {table}") for table in tables]
    printed = commands("import", "orders", str(ORDERS), "--dry-run", status=3)
    *shown, foreign, broken, counts = printed.splitlines()
    rows = [json.loads(line) for line in shown]
    assert [row["order_id"] for row in rows] == [5001, 5002, 5003, 5004]
    assert rows[3] == {
        "order_id": 5004,
        "shop_id": "a.example",
        "created_at": "2026-03-02T10:14:58+01:00",
        "updated_at": "2026-03-02T10:15:03.000001+01:00",
        "currency": "EUR",
        "total_cents": 9200,
        "discount_cents": 0,
        "customer_id": 207119552,
        "email": marked("kim@mail.example"),
        "discount_codes": [],
        "refunds": [
            {"refund_id": 509562971, "created_at": "2026-03-04T09:00:00Z", "amount_cents": 3066}
        ],
        "test": False,
    }
    assert foreign.startswith(f"{ORDERS}:")
    assert foreign.endswith(" currency: 'USD' is not the shop's currency (EUR)")
    assert broken.endswith(" total_price: 'many' is not a number")
    assert counts == "read 6  valid 4  rejected 2  rounded 1"
    printed = commands("import", "orders", str(ORDERS), "--dry-run", "--json", status=3)
    assert json.loads(printed) == {"read": 6, "valid": 4, "rejected": 2, "rounded": 1}
    assert [commands.rows(f"SELECT COUNT(*) FROM {table}") for table in tables] == before


def test_a_dry_run_of_own_rows_hides_what_a_reject_would(sqlite_commands: Commands) -> None:
    sqlite_commands.take("shops", [A])
    rows = [answer("my secret", "text", email="ann@mail.example"), answer("secret", event_id="")]
    file = written(sqlite_commands.folder / "e.csv", rows)
    row, reject, counts = sqlite_commands(
        "import", "events", str(file), "--dry-run", status=3
    ).splitlines()
    assert json.loads(row)["value"] == "***"
    assert json.loads(row)["email"] == marked("ann@mail.example")
    assert reject == f"{file}:3 event_id: missing"
    assert counts == "read 2  valid 1  rejected 1"


def test_rejects_are_mapped_again(commands: Commands) -> None:
    """Both of the same text, for each of which its own shop is known."""
    commands.take("shops", [A, B])
    for shop in ("a.example", "b.example"):
        commands("import", "orders", str(ORDERS), "--shop", shop, status=3)
    connection = str(SAMPLES / "shopify-bulk.jsonl")
    commands("import", "orders", connection, "--shop", "a.example", status=3)
    assert commands.rows("SELECT shop_key, order_id FROM raw_order WHERE order_id = '5005'") == [
        (2, "5005")
    ]
    before = commands("rejects", "--json")
    still = last(commands("rejects", "--retry", "--json", status=3))
    assert still == {
        "read": 10, "new": 0, "duplicate": 0, "replaced": 0, "rejected": 10, "rounded": 1,
    }  # fmt: skip
    assert commands("rejects", "--json") == before
    # No import may do so while the shop has orders.
    commands.change("UPDATE shop SET currency = 'USD' WHERE shop_id = 'a.example'")
    taken = last(commands("rejects", "--retry", "--json", status=3))
    assert (taken["new"], taken["duplicate"], taken["rejected"]) == (1, 1, 8)
    found = commands.rows(
        "SELECT gross, email_sha256 FROM raw_order WHERE shop_key = 1 AND order_id = '5005'"
    )
    assert found == [(1200, keyed("far@mail.example"))]


def test_what_lands_in_the_folders_of_a_format(commands: Commands) -> None:
    commands.take("shops", [A, B])
    for place in ("orders/shopify/a.example", "orders/shopify", "orders/shopify-bulk/a.example"):
        commands.land(place, "o.json", ORDERS.read_bytes())
    commands.land("orders/shopify/b.example", "o.json", ORDERS.read_bytes())
    commands.land("orders/sales", "o.json", ORDERS.read_bytes())
    rates = ecb(commands.folder / "eurofxref-hist.zip")
    commands.land("exchange-rates", rates.name, rates.read_bytes())
    commands("landing", status=1)
    reports = {
        str(path.parent.relative_to(commands.landing)): json.loads(path.read_text())
        for path in commands.landing.rglob(f"*{folder.REPORT}")
    }
    assert {place: report["error"] for place, report in reports.items()} == {
        "exchange-rates/done": None,
        "orders/shopify/a.example/done": None,
        "orders/shopify/b.example/done": None,
        "orders/shopify/failed": (
            "files of shopify do not name their shop, and there are 2: name it with --shop ID "
            "(in the landing folder: orders/shopify/ID/)"
        ),
        "orders/shopify-bulk/a.example/failed": (
            "looks like shopify (orders), not like shopify-bulk; import it as orders, without --format "
            "or with --format shopify (in the landing folder: orders/shopify/)"
        ),
    }
    assert reports["exchange-rates/done"]["counts"]["new"] == 5
    done = reports["orders/shopify/a.example/done"]
    assert done["counts"] == COUNTS
    assert [reject["reason"] for reject in done["rejects"]] == [
        "currency: 'USD' is not the shop's currency (EUR)",
        "total_price: 'many' is not a number",
    ]
    status = commands.status(status=1)
    assert [one["condition"] for one in status["conditions"]] == [
        "failed-files",
        "failed-files",
        "left-alone",
        "many-rejects",
    ]
    (left,) = status["landing"]["left_alone"]
    assert left.startswith(
        f"{commands.landing}/orders/sales: symlinks and folders are not imported"
    )
    assert status["landing"]["in_hand"] == []
