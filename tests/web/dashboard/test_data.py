"""The Data page and the line of all pages: what is certainly of the shop, and nothing of another one.

Rejected rows are in `test_data_rejects.py`.
"""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tests.support.import_files import answer, event, form, order
from tests.support.loaded import Content
from tests.support.shop_builder import known_shop
from tests.web.dashboard.page_text import sections
from tests.web.dashboard.two_shops import (
    EARLIER,
    HTML,
    NOW,
    UNKNOWN,
    ZONES,
    A,
    B,
    TwoShops,
    with_data,
)
from warehouse.domain.time import MICROS_PER_SECOND, NEVER, to_micros
from web.dashboard import formatting


@pytest.fixture
def content() -> Content:
    return with_data


def nothing(reason: str) -> str:
    return f"\N{EM DASH} ({reason})"


def test_sources(two: TwoShops) -> None:
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
    two.load("events", [event(event_id=f"w{number}") for number in range(5)])
    two.load("orders", [order(order_id="w1"), order(order_id="w2")])
    events, orders = two.rows("SELECT * FROM import_batch ORDER BY batch_id DESC LIMIT 2")[::-1]
    retry_at = int(NOW.timestamp() + 600) * MICROS_PER_SECOND
    columns = "INSERT INTO edition_batch (edition, batch_id, attempts, failed_at, retry_at, error)"
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
    files = two.rows("SELECT * FROM import_file WHERE shop_key <> 0 ORDER BY import_id DESC")
    names = {
        "events": "Events",
        "orders": "Orders",
        "forms": "Forms",
        "ad-spend": "Ad spend",
        "ad-accounts": "Ad accounts",
    }
    states = {"events": "in the figures", "orders": "in the figures"}
    listed = [
        [
            *(two.text(A, row.started_at), names[row.kind], "the file of both.ndjson"),
            *(str(row.rows_new), "0", "0", "0", "0", states.get(row.kind, "done"), "Undo"),
        ]
        for row in files
    ]
    for line, (*_, state) in zip(listed, failed[::-1], strict=False):
        line[-2] = state
    two.section(A, "Last imports").check(listed)
    backlog = two.section(A, "Refresh and backlog")
    backlog.check(
        failed,
        others=["7 rows of 2 imports, the oldest since", two.text(A, events.imported_at)],
    )
    page = two.page(A)
    assert "secret" not in page
    assert "Some imports fail and are in no figure." in page
    two.change("DELETE FROM edition_batch WHERE attempts > 0")
    waits = [row[-2] for row in two.section(A, "Last imports").tables[0][:2]]
    assert waits == ["waits for the next refresh"] * 2
    two.section(B, "Last imports").check([["No file was imported yet."]])
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


def test_what_is_not_for_owners_is_folded_away(two: TwoShops) -> None:
    """Unless it needs somebody."""
    two.load("forms", [form(form_id=UNKNOWN)])

    def folded() -> list[bool]:
        marks = re.findall(r'<details class="operator"( open)?>', two.page(A))
        return [not mark for mark in marks]

    _, fold, operators = two.page(A).partition('<details class="operator">')
    assert fold
    for heading in ("Refresh and backlog", "Last check", "Forms that only events know"):
        assert f"<h2>{heading}</h2>" in operators
    assert "python -m jobs" not in _
    assert folded() == [True]
    two.change(f"UPDATE edition SET differing_rows = 12 WHERE edition = {edition_of(two, A)}")
    two.change(f"UPDATE edition SET verified_at = 1 WHERE edition = {edition_of(two, A)}")
    assert folded() == [False]


def test_forms_that_only_events_know(two: TwoShops) -> None:
    # Days of pages end yesterday; the events are of today.
    now, heading = "/data?range=30d", "Forms that only events know"
    section = sections(two.page(A, now))[heading]
    assert section.tables == [[[UNKNOWN, "7"]]]
    assert f'{{"form_id": "{UNKNOWN}", "shop_id": "{A}"' in "".join(section.others)
    assert "are in the shop's list" in two.page(B, now)
    others = "Events of other days name forms that are not"
    assert others in two.page(A, "/data?range=2019-01-01..2019-01-02")
    assert others not in two.page(B, now)
    assert UNKNOWN not in two.page(B, now)
    two.load("forms", [form(form_id=UNKNOWN)])
    assert UNKNOWN not in two.page(A, now)
    # Events that are in no funnel name forms too.
    at = EARLIER.isoformat()
    two.load("events", [answer("yes", event_id="a", form_id=UNKNOWN[:-1] + "b", occurred_at=at)])
    two.jobs("rollup")
    assert sections(two.page(A, now))[heading].tables == [[[UNKNOWN[:-1] + "b", "1"]]]


def test_the_last_check(two: TwoShops) -> None:
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


def test_the_strip_of_every_page(two: TwoShops) -> None:
    two.load("forms", [form(form_id=UNKNOWN)])
    through = strip_of(two.page(A, "/forms"))
    assert re.search(
        r"^Data through \d+:\d\d.[AP]M · .* Last order [\w, ]*\d+:\d\d.[AP]M \.$", through
    ), through
    german = strip_of(two.page(A, "/forms", **{"Accept-Language": "de"}))
    assert re.search(r"^Data through \d\d:\d\d · .* Last order [\d., ]*\d\d:\d\d \.$", german), (
        german
    )
    assert ", no order yet · " in strip_of(two.page(B, "/forms"))
    attribute = re.search(r'Last order <time datetime="([^"]+)"', two.page(A, "/forms"))
    assert attribute
    assert datetime.fromisoformat(attribute[1]) == EARLIER
    assert attribute[1].endswith(EARLIER.astimezone(ZoneInfo(ZONES[A])).isoformat()[-6:])
    assert 'class="attention"' not in two.page(A, "/forms")


def strip_of(page: str) -> str:
    found = re.search(r'<div class="through">(.*?)</details></div>', page, re.DOTALL)
    assert found
    return " ".join(re.sub(r"<[^>]*>", " ", found[1]).split())


def test_the_files_of_the_last_imports(two: TwoShops) -> None:
    """A file is named where all of its rows are the shop's; an import that is undone stays listed."""
    two.load("orders", [order(order_id="b1", shop_id=B), order(order_id="b1", shop_id=B), {}])
    two.load("events", [event(event_id="k1"), event(event_id="both"), event(shop_id=B)])
    shown = two.section(A, "Last imports").tables[0]
    assert shown[0][1:] == [
        *("Events", nothing("with rows of other shops"), "1", "", "waits for the next refresh", "")
    ]
    assert [line[2] for line in shown[1:]] == ["the file of both.ndjson"] * (len(shown) - 1)
    theirs = [line[1:] for line in two.section(B, "Last imports").tables[0]]
    waits = "waits for the next refresh"
    assert theirs == [
        ["Events", nothing("with rows of other shops"), "1", "", waits, ""],
        ["Orders", "the file of both.ndjson", "1", "1", "0", "1", "0", waits, "Undo"],
    ]
    (last,) = two.rows("SELECT MAX(import_id) - 1 AS id FROM import_file")
    two.jobs("imports", "undo", str(last.id))
    undone = [line[-2:] for line in two.section(B, "Last imports").tables[0]]
    assert undone == [["in the figures", ""], ["undone", ""]]
