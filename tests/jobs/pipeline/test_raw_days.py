"""Raw events older than RAW_DAYS: which go, what is kept of them, and what then says so."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import text

from jobs.facts import kept_facts
from jobs.facts.kept_facts import KeptFacts
from jobs.pipeline import batching
from tests.support.hashing import HASHER, keyed, marked
from tests.support.import_files import event, order
from tests.support.job_commands import SHOP, Commands
from tests.support.shop_builder import writing
from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import open_engine
from warehouse.persons import forgotten
from warehouse.shops import shop_inputs
from warehouse.tenants.deletion import close_shop, delete_rows
from warehouse.tenants.export import export_shop

OLD, LATE = "2026-01-05T10:00:00Z", "2026-01-07T10:00:00Z"
EMAIL = "ada@mail.example"
BOB = event(event_id="e6", form_session_id="bob", visitor_id="bob", occurred_at=OLD)
GONE = "raw events up to 2026-01-05 are gone (RAW_DAYS): the facts that were kept of them stand for them"


def kept(commands: Commands) -> list[KeptFacts]:
    with open_arrow(commands.url) as connection:
        return [kept.facts for kept in kept_facts.read(connection, {1: 1})]


def events_kept(commands: Commands) -> list[int]:
    """The number of events of which facts are kept, by batch."""
    return [int(facts.instants["events"].sum()) for facts in kept(commands)]


def raw_ids(commands: Commands) -> list[Any]:
    return commands.rows("SELECT event_id FROM raw_event ORDER BY event_id")


@pytest.fixture
def jobs(commands: Commands) -> Commands:
    """A shop with two old events, of which nothing is rolled up yet."""
    commands.settings["RAW_DAYS"] = "30"
    commands.take("shops", [SHOP])
    own = {"occurred_at": OLD, "email": EMAIL, "customer_id": "c1"}
    commands.take(
        "events", [event(event_id="e1", **own), event(event_id="e2", type="subscribe", **own)]
    )
    return commands


def test_events_go_once_they_are_rolled_up(jobs: Commands) -> None:
    jobs("purge")
    assert raw_ids(jobs) == ["e1", "e2"]
    jobs("rollup")
    assert jobs("purge") == "purged 2 events, 0 records of runs, 0 files\n"
    assert raw_ids(jobs) == []
    assert jobs.rows("SELECT kind FROM import_batch ORDER BY batch_id") == ["events", "kept-facts"]
    assert jobs.rows("SELECT rows, purged FROM import_batch WHERE kind = 'events'") == [(0, 2)]
    assert jobs("purge") == "purged 0 events, 0 records of runs, 0 files\n"
    assert len(kept(jobs)) == 1


def test_small_kept_facts_are_joined(jobs: Commands) -> None:
    """An edition that lacks some would lack what is joined to them."""
    for name in ("e8", "e9"):
        jobs("rollup")
        jobs("purge")
        jobs.take("events", [event(event_id=name, form_session_id=name, occurred_at=OLD)])
    jobs("rollup")
    assert events_kept(jobs) == [3]
    with writing(open_engine(jobs.url)) as connection:
        connection.execute(
            text(
                "INSERT INTO edition (shop_key, timezone, window_days, logic_version, state) "
                "SELECT shop_key, timezone, window_days, logic_version, 'building' FROM edition"
            )
        )
        connection.execute(
            text(
                "INSERT INTO edition_batch (edition, batch_id) SELECT e.edition, b.batch_id "
                "FROM edition e, import_batch b WHERE e.state = 'building' AND b.kind = 'events'"
            )
        )
    jobs("purge")
    assert events_kept(jobs) == [3, 1]
    with writing(open_engine(jobs.url)) as connection:
        connection.execute(text("UPDATE edition SET state = 'retired' WHERE state = 'building'"))
    jobs.take("events", [BOB])
    jobs("rollup")
    jobs("purge")
    assert events_kept(jobs) == [3, 2]
    jobs("rebuild")
    jobs("verify", "--all")


def test_events_stay_by_default(jobs: Commands) -> None:
    del jobs.settings["RAW_DAYS"]
    jobs("rollup")
    jobs("purge")
    assert raw_ids(jobs) == ["e1", "e2"]


def test_versions_of_orders_stay(jobs: Commands) -> None:
    jobs.take("orders", [order(), order(updated_at="2026-01-08T00:00:00Z")])
    jobs("rollup")
    jobs("purge")
    assert jobs.rows("SELECT COUNT(*) FROM raw_order") == [2]


def test_an_address_in_another_text_keeps_its_row(jobs: Commands) -> None:
    """Kept facts could not tell whose it is. An identifier may be one."""
    mark = marked(EMAIL)
    rows = [event(event_id="e3", utm_content=EMAIL), event(event_id="e4", visitor_id=EMAIL)]
    jobs.take("events", [row | {"occurred_at": OLD} for row in rows])
    jobs("rollup")
    assert jobs("purge").startswith("purged 3 events")
    assert raw_ids(jobs) == ["e3"]
    assert mark in {visitor for facts in kept(jobs) for visitor in facts.groups["visitor_id"]}


def test_what_computes_again_says_which_events_are_gone(jobs: Commands) -> None:
    jobs("rollup")
    assert GONE not in jobs("verify", "--all")
    jobs("purge")
    of_shops = GONE.replace("raw events", "raw events of 1 shop")
    days = ("--from", "2026-01-05", "--to", "2026-01-06")
    for words in (("verify", "--all"), ("verify",), ("rebuild",), ("backfill", *days)):
        assert of_shops in jobs(*words)
        assert GONE in jobs(*words, "--shop", "a.example")
    assert "RAW_DAYS" not in jobs("verify", "--as", "verify")
    assert jobs("verify", "--all").endswith("no differences\n")


def test_an_import_of_which_events_are_gone_cannot_be_undone(jobs: Commands) -> None:
    jobs("rollup")
    (events,) = jobs.rows("SELECT import_id FROM import_file WHERE kind = 'events'")
    jobs("purge")
    for words in (["--dry-run"], []):
        refused = jobs("imports", "undo", str(events), *words, status=1)
        assert refused == (
            f"Error: import {events} can no longer be undone: 2 of its events went, older than RAW_DAYS\n"
        )
    assert "  done  events" in jobs("imports", "list")


def test_an_import_that_comes_again_can_be_undone(jobs: Commands) -> None:
    """Its events were there before, and stay."""
    jobs("rollup")
    before = jobs.rows("SELECT first_at, email FROM fact_form_session")
    jobs("purge")
    jobs("import", "events", str(jobs.folder / "events.ndjson"))
    (again,) = jobs.rows("SELECT MAX(import_id) FROM import_file")
    jobs("rollup")
    assert jobs("imports", "undo", str(again)).endswith("2 rows are gone, 0 stay\n")
    assert jobs.rows("SELECT first_at, email FROM fact_form_session") == before
    assert jobs("verify", "--all").endswith("no differences\n")


def test_an_undo_that_has_begun_keeps_its_events(jobs: Commands) -> None:
    jobs("rollup")
    jobs.ask_undo("kind = 'events'")
    assert jobs("purge").startswith("purged 0 events")
    jobs("rollup")
    assert raw_ids(jobs) == []
    assert jobs.rows("SELECT COUNT(*) FROM fact_form_session") == [0]


def test_each_address_keeps_its_last_sighting(jobs: Commands) -> None:
    """The last of several events of one group, and each of two addresses of one customer."""
    other = {"email": "also.ada@mail.example", "customer_id": "c1"}
    rows = [
        event(event_id="e7", email=EMAIL, customer_id="c1", occurred_at=OLD[:-3] + "09Z"),
        event(event_id="e8", occurred_at=OLD[:-3] + "05Z", **other),
        event(event_id="e9", email="also.ada@mail.example", occurred_at=OLD[:-3] + "30Z"),
    ]
    jobs.take("events", rows)
    jobs("rollup")
    seen = (
        "SELECT seen_at - (SELECT MIN(first_at) FROM fact_form_session) FROM fact_email ORDER BY 1"
    )
    assert jobs.rows(seen) == [5_000_000, 9_000_000]
    jobs("purge")
    jobs("rebuild")
    assert jobs.rows(seen) == [5_000_000, 9_000_000]


def test_a_late_event_merges_with_what_was_kept(
    jobs: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs("rollup")
    jobs("purge")
    jobs.take("events", [event(event_id="e5", type="complete", occurred_at=LATE)])
    jobs("rollup")
    session = "SELECT COUNT(*) FROM fact_form_session WHERE completed_at - viewed_at = 172800000000"
    assert jobs.rows(session) == [1]
    assert jobs("purge").startswith("purged 1 events")
    assert events_kept(jobs) == [3]
    # All batches as they lie; then one after the other, so that what was kept meets what is stored.
    for rows in (batching.BATCH_ROWS, 1):
        monkeypatch.setattr(batching, "BATCH_ROWS", rows)
        jobs("rebuild")
        assert jobs.rows(session) == [1]


def test_a_session_goes_on_after_the_days_that_are_kept(jobs: Commands) -> None:
    """Its old events are kept facts, its new ones raw: a late one, an undo and a backfill meet both."""
    today = f"{datetime.now(UTC):%Y-%m-%d}T00:00:01Z"
    jobs.take("events", [event(event_id="e3", type="start", occurred_at=today)])
    jobs("rollup")
    assert jobs("purge").startswith("purged 2 events")
    assert raw_ids(jobs) == ["e3"]
    figures = (
        "SELECT viewed_at, started_at, subscribed_at, submitted_at, first_at FROM fact_form_session"
    )
    before = jobs.rows(figures)
    jobs.take("events", [event(event_id="e4", type="complete", occurred_at=today)])
    jobs("rollup")
    assert jobs.rows(figures) == before
    newest = jobs.rows("SELECT MAX(import_id) FROM import_file")[0]
    jobs("imports", "undo", str(newest))
    assert jobs.rows(figures) == before
    jobs("backfill", "--from", today[:10], "--to", today[:10])
    assert jobs.rows(figures) == before
    assert jobs("verify", "--all").endswith("no differences\n")


def test_verify_meets_what_is_kept_of_several_shops(jobs: Commands) -> None:
    """The day of one of them ends hours later."""
    west = {"shop_id": "west.example"}
    jobs.take("shops", [SHOP | west | {"timezone": "Pacific/Honolulu"}])
    jobs.take("events", [event(event_id="w", occurred_at="2026-01-06T05:00:00Z", **west)])
    jobs("rollup")
    jobs("purge")
    assert raw_ids(jobs) == []
    assert jobs("verify").endswith("no differences\n")


def test_a_person_is_taken_out_of_kept_facts(jobs: Commands) -> None:
    jobs.take("events", [BOB])
    jobs("rollup")
    jobs("purge")
    dry = jobs("forget", "--shop", "a.example", "--email", EMAIL, "--dry-run").splitlines()
    assert dry[0] == "would remove: events 2  versions of orders 0"
    others = [
        f"also seen with {kind} {text}: 0 rows of it are left; forget it with --{kind} {text}"
        for kind, text in (("customer", "c1"), ("visitor", "v1"))
    ]
    assert dry[1:] == others
    printed = jobs("forget", "--shop", "a.example", "--email", EMAIL).splitlines()
    assert printed == ["removed: events 2  versions of orders 0  rejected rows 0", *others]
    expect_bob_alone(jobs)


def test_a_person_whom_a_page_asks_to_forget_is_found_by_the_hash(jobs: Commands) -> None:
    jobs.take("events", [BOB])
    jobs("rollup")
    jobs("purge")
    engine = open_engine(jobs.url)
    person = forgotten.identifier_of(HASHER, "visitor", "v1")
    hashed = forgotten.identifier_hash(HASHER, person)
    with writing(engine) as connection:
        forgotten.ask(connection, 1, hashed, 1)
    engine.dispose()
    assert "removed persons: 1  events 2  versions of orders 0" in jobs("rollup", "--refresh")
    expect_bob_alone(jobs)


def expect_bob_alone(jobs: Commands) -> None:
    (facts,) = kept(jobs)
    assert list(facts.groups["visitor_id"]) == ["bob"]
    texts = {str(value) for rows in vars(facts).values() for name in rows for value in rows[name]}
    assert not texts & {keyed(EMAIL), "c1", "v1", "s1", "e1", "e2"}
    assert jobs.rows("SELECT COUNT(*) FROM fact_form_session") == [1]
    assert jobs("verify", "--all").endswith("no differences\n")


def test_an_archive_says_what_is_missing(jobs: Commands) -> None:
    jobs("rollup")
    file = jobs.folder / "a.zip"
    assert export_shop(jobs.url, "a.example", file).purged_until == ""
    jobs("purge")
    assert export_shop(jobs.url, "a.example", file, force=True).purged_until == "2026-01-05"


def test_a_deleted_shop_leaves_nothing(jobs: Commands) -> None:
    jobs("rollup")
    jobs("purge")
    engine = open_engine(jobs.url)
    with writing(engine) as connection:
        close_shop(connection, "a.example", 1, "operator", "")
    engine.dispose()
    with open_arrow(jobs.url) as connection:
        delete_rows(connection, "a.example")
    assert jobs.rows("SELECT COUNT(*) FROM kept_facts") == [0]


def test_pages_and_status_tell_of_the_events_that_came(jobs: Commands) -> None:
    jobs("rollup")
    before = told(jobs)
    jobs("purge")
    assert told(jobs) == before
    assert [part.rows for part in before[:3]] == [2, 2, 2]


def told(jobs: Commands) -> Any:
    """The newest events of a shop, its last import, all its events, and the newest batch."""
    engine = open_engine(jobs.url)
    (edition,) = jobs.rows("SELECT edition FROM shop")
    with engine.connect() as connection:
        newest = shop_inputs.read_sources(connection, 1, edition)["events"]
        ((*_, batch),) = shop_inputs.last_imports(connection, 1, edition, 1)
        (events, *_) = shop_inputs.read_arrivals(connection, 1)
    engine.dispose()
    return newest, batch, events, jobs.status(1)["shops"][0]["newest_batch"]
