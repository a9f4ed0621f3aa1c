"""The Data page and the strip of all pages: what is certainly of the shop, and nothing of another one."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner
from flask import Flask
from sqlalchemy import Engine, text

from jobs.cli import main
from jobs.importing.kinds import KINDS
from jobs.importing.shops import SHOP_ID
from tests.support.import_files import FORM, account, as_ndjson, event, form, order, spend
from tests.support.people import Browser, add_member
from tests.support.shop_builder import known_shop, writing
from tests.web.dashboard.page_text import Section, sections
from warehouse.connections.engine import open_engine
from warehouse.domain.time import MICROS_PER_SECOND, NEVER, from_micros, to_micros
from web.app import close_app, create_app
from web.dashboard import data as page_of_data
from web.dashboard import formatting
from web.http.state import services_of

A, B = "a.example", "b.example"
ZONES = {A: "Europe/Berlin", B: "UTC"}
UNKNOWN = "8f0e0000-0000-4000-8000-00000000000a"
HTML = {"Accept": "text/html", "Accept-Language": "en"}
PATH = "/data"


@dataclass
class TwoShops:
    """A warehouse with two shops, and a browser of a member of each."""

    url: str
    folder: Path
    engine: Engine
    app: Flask
    browsers: dict[str, Browser] = field(default_factory=dict)

    def page(self, shop: str, path: str = PATH, **headers: str) -> str:
        answer = self.browsers[shop].get(path, headers=HTML | headers)
        assert answer.status_code == 200
        return answer.get_data(as_text=True)

    def section(self, shop: str, heading: str) -> Section:
        return sections(self.page(shop))[heading]

    def load(self, kind: str, rows: list[Any]) -> None:
        self.take(kind, as_ndjson(rows))

    def take(self, kind: str, lines: bytes) -> None:
        """Import a file that the members of both shops might see the name of."""
        file = self.folder / "the file of both.ndjson"
        file.write_bytes(lines)
        self.jobs("import", kind, str(file))

    def jobs(self, *words: str) -> None:
        """Run a command, which SQLite refuses while this process has connections of the API."""
        services_of(self.app).database.close()
        self.engine.dispose()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("WAREHOUSE_URL", self.url)
            result = CliRunner().invoke(main, words, catch_exceptions=False)
        assert result.exit_code in (0, 1, 3), result.output
        assert "a defect" not in result.output

    def rows(self, sql: str) -> list[Any]:
        with self.engine.connect() as connection:
            return list(connection.execute(text(sql)))

    def change(self, sql: str) -> None:
        with writing(self.engine) as connection:
            connection.execute(text(sql))

    def text(self, shop: str, instant: int, how: Callable[..., str] = formatting.instant) -> str:
        """An instant in the shop's time, as an English browser is shown it."""
        with self.app.test_request_context(headers=HTML):
            shown = how(from_micros(instant).astimezone(ZoneInfo(ZONES[shop])))
        return " ".join(shown.split())


@pytest.fixture
def two(warehouse_url: str, tmp_path: Path) -> Iterator[TwoShops]:
    engine, app = open_engine(warehouse_url), create_app(warehouse_url)
    shops = TwoShops(warehouse_url, tmp_path, engine, app)
    shops.load("shops", [{"shop_id": id, "currency": "EUR", "timezone": ZONES[id]} for id in ZONES])
    for shop in (A, B):
        email = f"ada@{shop}"
        add_member(engine, known_shop(engine, shop), email)
        shops.browsers[shop] = Browser(app.test_client()).signed_in(email)
    yield shops
    close_app(app)
    engine.dispose()


NOW = datetime.now(UTC)
EARLIER = NOW - timedelta(hours=2)


def fill(two: TwoShops) -> None:
    """Data of shop A, and nothing of shop B."""
    two.load("forms", [form(), form(form_id=FORM.replace("0190", "0191"))])
    at = EARLIER.isoformat()
    known = [event(event_id=f"k{number}", occurred_at=at) for number in range(4)]
    other = [event(event_id=f"u{n}", form_id=UNKNOWN, occurred_at=at) for n in range(7)]
    two.load("events", [*known, *other])
    created = [EARLIER - timedelta(days=day) for day in (3, 0, 1)]
    two.load(
        "orders",
        [order(order_id=f"o{n}", created_at=at.isoformat()) for n, at in enumerate(created)],
    )
    # A test order is no order.
    two.load("orders", [order(order_id="t", created_at=NOW.isoformat(), test=True)])
    two.load("ad-spend", [spend(), spend(date="2026-01-04"), spend(provider="x")])
    two.load("ad-accounts", [account(synced_at="2026-01-05T06:07:08Z")])
    two.jobs("rollup")


def nothing(reason: str) -> str:
    return f"\N{EM DASH} ({reason})"


def test_sources(two: TwoShops) -> None:
    fill(two)
    key = known_shop(two.engine, A).key
    imported = {
        row.kind: row
        for row in two.rows(
            f"SELECT kind, rows, imported_at FROM import_batch WHERE shop_key = {key} "
            "ORDER BY batch_id"
        )
    }
    (newest,) = two.rows(f"SELECT MAX(created_at) AS at FROM form WHERE shop_key = {key}")
    local = EARLIER.astimezone(ZoneInfo(ZONES[A]))
    with two.app.test_request_context(headers=HTML):
        event_day = formatting.day(local.date())
    order_at = two.text(A, to_micros(EARLIER))
    last = {
        kind: f"{two.text(A, row.imported_at)} , {row.rows} row{'s' * (row.rows != 1)}"
        for kind, row in imported.items()
    }
    two.section(A, "Sources").check(
        [
            ["Forms", f"2 forms, the newest of {two.text(A, newest.at)}", nothing("not recorded")],
            ["Events", event_day, last["events"]],
            ["Orders", order_at, last["orders"]],
            ["Ad spend, meta", "Jan 4, 2026", "Jan 5, 2026, 7:07:08 AM"],
            ["Ad spend, x", "Jan 2, 2026", nothing("not recorded")],
        ]
    )
    two.section(B, "Sources").check(
        [
            ["Forms", nothing("no form yet"), nothing("not recorded")],
            *(
                [
                    name,
                    nothing(f"no {one} in the figures yet"),
                    nothing("none imported yet"),
                ]
                for name, one in (("Events", "event"), ("Orders", "order"))
            ),
            ["Ad spend", nothing("no spend yet"), nothing("none imported yet")],
        ]
    )
    assert "Not imported yet: forms, events, orders, ad spend." in two.page(B)
    assert "Not imported yet" not in two.page(A)


def test_last_imports_and_those_that_fail(two: TwoShops) -> None:
    fill(two)
    two.load("events", [event(event_id=f"w{number}") for number in range(5)])
    two.load("orders", [order(order_id="w1"), order(order_id="w2")])
    events, orders = two.rows("SELECT * FROM import_batch ORDER BY batch_id DESC LIMIT 2")[::-1]
    retry_at = int(NOW.timestamp() + 600) * MICROS_PER_SECOND
    columns = "INSERT INTO failed_batch (edition, batch_id, attempts, failed_at, retry_at, error)"
    edition = f"(SELECT edition FROM shop WHERE shop_id = '{A}')"
    two.change(f"{columns} VALUES ({edition}, {orders.batch_id}, 5, 1, {NEVER}, 'secret')")
    two.change(f"{columns} VALUES ({edition}, {events.batch_id}, 1, 1, {retry_at}, 'secret')")
    failed = [
        [
            two.text(A, events.imported_at),
            "Events",
            "5",
            f"failed, to be tried again from {two.text(A, retry_at)}",
        ],
        [two.text(A, orders.imported_at), "Orders", "2", "set aside after 5 attempts"],
    ]
    applied = two.rows(
        "SELECT * FROM import_batch WHERE batch_id < "
        f"{events.batch_id} ORDER BY batch_id DESC LIMIT 8"
    )
    names = {"events": "Events", "orders": "Orders"}
    done = [
        [two.text(A, row.imported_at), names[row.kind], str(row.rows), "in the figures"]
        for row in applied
    ]
    two.section(A, "Last imports").check([*failed[::-1], *done])
    backlog = two.section(A, "Refresh and backlog")
    backlog.check(
        failed,
        others=["7 rows of 2 imports, the oldest since", two.text(A, events.imported_at)],
    )
    page = two.page(A)
    assert "secret" not in page
    assert "Some imports fail and are in no figure." in page
    two.change("DELETE FROM failed_batch")
    waits = [row[-1] for row in two.section(A, "Last imports").tables[0][:3]]
    assert waits == ["waits for the next refresh"] * 2 + ["in the figures"]
    two.section(B, "Last imports").check([["No events or orders were imported yet."]])
    two.section(B, "Refresh and backlog").check()


def test_the_last_runs(two: TwoShops) -> None:
    two.jobs("run", "refresh")
    two.jobs("run", "nightly")
    two.change("UPDATE job_run SET error = 'of b.example', arguments = 'b.csv'")
    two.change("UPDATE job_run SET state = 'failed' WHERE job = 'nightly'")
    runs = {row.job: row.started_at for row in two.rows("SELECT job, started_at FROM job_run")}
    two.section(A, "Refresh and backlog").check(
        others=[two.text(A, runs["refresh"]), two.text(A, runs["nightly"])]
    )
    page = two.page(A)
    assert ", finished</dd>" in page
    assert ", failed</dd>" in page
    assert "of b.example" not in page
    assert "b.csv" not in page


def test_forms_that_only_events_know(two: TwoShops) -> None:
    fill(two)
    section = two.section(A, "Forms that only events know")
    assert section.tables == [[[UNKNOWN, "7"]]]
    assert f'{{"form_id": "{UNKNOWN}", "shop_id": "{A}"' in "".join(section.others)
    assert "are in the shop's list" in two.page(B)
    assert UNKNOWN not in two.page(B)
    two.load("forms", [form(form_id=UNKNOWN)])
    assert UNKNOWN not in two.page(A)


def test_the_last_check(two: TwoShops) -> None:
    fill(two)
    two.section(A, "Last check").check()
    two.jobs("verify", "--all")
    (row,) = two.rows(f"SELECT verified_at FROM edition WHERE edition = {edition_of(two, A)}")
    at = two.text(A, row.verified_at)
    two.section(A, "Last check").check(others=[at])
    assert "Recomputed from raw: no differences." in two.page(A)
    two.change(f"UPDATE edition SET differing_rows = 12 WHERE edition = {edition_of(two, A)}")
    two.section(A, "Last check").check(others=["Recomputed from raw: 12 rows differ.", at])
    assert "Some figures differ from the imported rows." in two.page(A, "/")
    assert "Recomputed from raw: no differences." in two.page(B)
    assert "Some figures differ" not in two.page(B, "/")


def edition_of(two: TwoShops, shop: str) -> int:
    (row,) = two.rows(f"SELECT edition FROM shop WHERE shop_id = '{shop}'")
    return int(row.edition)


def hostile() -> list[bytes]:
    """Lines of one file with rows of both shops, and of nobody."""
    pounds = {"currency": "GBP", "customer_id": "a customer of A"}
    rows = [
        order(order_id="1", **pounds),
        order(order_id="<script>alert(2)</script>", currency="<i>"),
        order(order_id="3", total_cents="\u202etxt"),
        order(order_id="4", customer_id="secret customer" * 20),
        order(order_id="5", discount_codes=[{"code": "SECRETCODE" * 30}]),
        order(order_id="6", shop_id=B, **pounds),
        order(order_id="7", shop_id="nobody.example", **pounds),
        order(order_id="8", shop_id=None, **pounds),
        order(order_id="9" * 201, created_at="soon", email="eve@mail.example"),
    ]
    return [
        *(json.dumps(row).encode() for row in rows),
        b'{"shop_id": "a.example", "order_id": "10',
    ]


def test_rejects_by_reason(two: TwoShops) -> None:
    two.take("orders", b"\n".join(hostile()))
    (row,) = two.rows("SELECT DISTINCT rejected_at AS at FROM reject")
    at, key = two.text(A, row.at), "Orders"
    iso = "is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z"
    correct = "Correct the rows in their file, and import the file again."
    currency = "Send these rows in the shop's currency, and import the file again."

    def line(reason: str, remedy: str, example: str) -> list[str]:
        return [key, f"{reason} {remedy} {example}", "1", at]

    expected = [
        line(
            f"created_at: … {iso}",
            correct,
            f"line 9, order_id {'9' * 200}… : created_at: 'soon' {iso}",
        ),
        line(
            "currency: … is not a currency code of three letters",
            currency,
            "line 2, order_id <script>alert(2)</script> : "
            "currency: '<i>' is not a currency code of three letters",
        ),
        line(
            "currency: … is not the shop's currency (EUR)",
            currency,
            "line 1, order_id 1 : currency: 'GBP' is not the shop's currency (EUR)",
        ),
        line(
            "customer_id: … is longer than 255 characters",
            correct,
            "line 4, order_id 4 : customer_id: … is longer than 255 characters",
        ),
        line(
            "discount_codes: code: … is longer than 255 characters",
            correct,
            "line 5, order_id 5 : discount_codes: code: … is longer than 255 characters",
        ),
        line(
            "total_cents: … is a text, not a number; write it without quotes",
            correct,
            "line 3, order_id 3 : total_cents: '\\u202etxt' is a text, not a number; write it "
            "without quotes",
        ),
    ]
    two.section(A, "Rejected rows").check(
        expected,
        others=[
            "6 rows of this shop could not be imported, and are in no figure. The newest examples "
            "stand below each reason.",
            "This helps where the cause was not in the rows: after a correction of the shop, or an "
            "update of this service. A row that is wrong in itself is refused again, and stays "
            "listed for 30 days.",
        ],
    )
    page = two.page(A)
    assert "<script>alert" not in page
    for private in ("a customer of A", "secret customer", "SECRETCODE", "eve@", "the file of both"):
        assert private not in page, private
    of_b = two.section(B, "Rejected rows")
    assert [row[1:3] for row in of_b.tables[0]] == [
        [
            f"currency: … is not the shop's currency (EUR) {currency} "
            "line 6, order_id 6 : currency: 'GBP' is not the shop's currency (EUR)",
            "1",
        ]
    ]


def test_another_system_s_file_is_named_and_its_values_are_not(two: TwoShops) -> None:
    file = two.folder / "Our <spend>.csv"
    file.write_text(
        "Date,Platform,Campaign,Currency,Cost,Impr.,Clicks\n2026-01-02,meta,S,EUR,secret,1,1\n"
    )
    two.jobs("import", "ad-spend", "--shop", A, str(file))
    (row,) = two.section(A, "Rejected rows").tables[0]
    assert row[1].endswith("Our <spend>.csv, record 2 : spend: … is not a number")
    assert str(two.folder) not in two.page(A)
    assert "secret" not in two.page(A)
    assert "No row of this shop was rejected in the last 30 days." in two.page(B)
    assert "spend" not in "".join(two.section(B, "Rejected rows").others)


def test_many_reasons_stay_light(two: TwoShops) -> None:
    # The reasons differ by the names of the months, which stand outside of quotation marks.
    rows = [order(order_id=str(n), currency="GBP") for n in range(1, 500)]
    two.take("orders", as_ndjson(rows))
    two.change("UPDATE reject SET reason = 'reason ' || reject_id")
    page = two.page(A)
    assert len(page) < 150_000
    assert "The 20 most frequent of 499 reasons." in page
    assert len(sections(page)["Rejected rows"].tables[0]) == 20


def test_a_retry_and_its_outcome(two: TwoShops) -> None:
    wrong = [order(order_id=str(number), currency="GBP") for number in range(3)]
    wrong.append(order(order_id="9", shop_id=B, currency="GBP"))
    two.take("orders", as_ndjson(wrong))
    two.change("UPDATE shop SET currency = 'GBP'")
    browser = two.browsers[A]
    assert browser.client.post("/data/retry").status_code == 400, "without the token of the form"
    assert two.rows("SELECT * FROM reject_retry") == []
    fields = browser.form(PATH)
    answer = browser.client.post("/data/retry", data=fields)
    assert (answer.status_code, answer.location) == (302, "/data#rejects")
    page = two.page(A)
    assert "The next refresh imports the rejected rows again." in page
    assert "wait to be imported again by the next refresh" in page
    assert "Import them again" not in page
    assert "wait to be imported" not in two.page(B)
    browser.client.post("/data/retry", data=fields)
    assert "already wait for the next refresh" in two.page(A)
    trail = two.rows("SELECT actor, shop_key FROM audit_event WHERE action = 'rejects_retried'")
    assert trail == [(f"ada@{A}", known_shop(two.engine, A).key)], "asked once"
    assert "Asked to import rejected rows again" in two.page(A, "/settings/activity")
    assert "Asked to import" not in two.page(B, "/settings/activity")
    two.jobs("rollup", "--refresh")
    (row,) = two.rows("SELECT tried_at FROM reject_retry")
    outcome = two.section(A, "Rejected rows")
    outcome.check(
        others=[
            "No row of this shop was rejected in the last 30 days.",
            two.text(A, row.tried_at),
            "they were imported again: 3 accepted. Those that were refused again are listed.",
        ]
    )
    assert len(two.section(B, "Rejected rows").tables[0]) == 1


def test_only_members_who_manage_connections_see_it(two: TwoShops) -> None:
    add_member(two.engine, known_shop(two.engine, A), "bob@a.example", ["forms:edit"])
    two.take("orders", as_ndjson([order(currency="GBP")]))
    bob = Browser(two.app.test_client()).signed_in("bob@a.example")
    page = bob.get("/", headers=HTML).get_data(as_text=True)
    assert not re.search(r'href="/data["?#]', page)
    assert "a member with the Connections permission sees why on the Data page." in page
    refused = bob.get(PATH, headers=HTML)
    assert refused.status_code == 403
    assert "Only a member with the Connections permission" in refused.get_data(as_text=True)
    token = bob.form("/settings/account")
    assert bob.client.post("/data/retry", data=token).status_code == 403
    assert two.rows("SELECT * FROM reject_retry") == []
    own = two.page(A, "/")
    assert '<a href="/data?' in own
    assert "#rejects" in own
    assert Browser(two.app.test_client()).get(PATH, headers=HTML).status_code == 302


def test_the_strip_of_every_page(two: TwoShops) -> None:
    fill(two)
    through = strip_of(two.page(A, "/forms"))
    assert re.search(r"Data through \d+:\d\d.[AP]M , last order 2 hr\. ago$", through), through
    german = strip_of(two.page(A, "/forms", **{"Accept-Language": "de"}))
    assert re.search(r"Data through \d\d:\d\d , last order vor 2 Std\.$", german), german
    assert strip_of(two.page(B, "/forms")).endswith(", no order yet")
    attribute = re.search(r'last order <time datetime="([^"]+)"', two.page(A, "/forms"))
    assert attribute
    assert datetime.fromisoformat(attribute[1]) == EARLIER
    assert attribute[1].endswith(EARLIER.astimezone(ZoneInfo(ZONES[A])).isoformat()[-6:])
    assert 'class="attention"' not in two.page(A, "/forms")


def strip_of(page: str) -> str:
    found = re.search(r'<p class="through">(.*?)</p>', page, re.DOTALL)
    assert found
    return " ".join(re.sub(r"<[^>]*>", " ", found[1]).split())


def test_every_kind_of_a_shop_has_its_words() -> None:
    kinds = {name for name, kind in KINDS.items() if SHOP_ID in kind.fields}
    assert page_of_data.KINDS.keys() == page_of_data._KEYS.keys() == kinds
    fields = {field for name in kinds for field in KINDS[name].field_names()}
    assert fields >= page_of_data._SHOWN_VALUES
