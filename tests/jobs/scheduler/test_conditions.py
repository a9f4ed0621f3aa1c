"""The conditions that need an operator: each is provoked, and is found.

Those of the landing folder are in `test_landing_conditions.py`.
"""

from collections import Counter
from datetime import UTC, datetime, timedelta

from tests.jobs.pulls.server import Answer, serving
from tests.jobs.scheduler.conftest import HOUR, MINUTE, findings, gauges, needs, ready, started
from tests.support.commands import kill_at_call
from tests.support.import_files import FORM, answer, as_ndjson, event, order
from tests.support.job_commands import SHOP, Commands
from tests.support.shop_builder import writing
from warehouse.connections.engine import open_engine
from warehouse.domain.hash_ids import form_id_of, text_id
from warehouse.domain.time import MICROS_PER_DAY, NEVER, now_micros
from warehouse.forms.seen_forms import forget_few
from warehouse.operations import collectors


def daily_orders(commands: Commands, days: int, newest: timedelta) -> None:
    """An order on each of so many days; the newest is so old."""
    last = datetime.now(UTC) - newest
    orders = [
        order(order_id=f"o{day}", created_at=(last - timedelta(days=day)).isoformat())
        for day in range(days)
    ]
    commands.take("shops", [SHOP])
    commands.take("orders", orders)
    commands("rollup")


def test_a_warehouse_whose_rollups_are_started_by_hand_needs_nobody(commands: Commands) -> None:
    assert needs(commands) == {}
    commands.take("shops", [SHOP])
    commands.take("orders", [order()])
    commands("rollup")
    assert needs(commands) == {}
    assert needs(commands, now_micros() + 5 * MICROS_PER_DAY) == {}
    assert "no scheduler runs (none was ever seen)" in commands("status")


def test_every_door_says_what_needs_an_operator(commands: Commands) -> None:
    """`status` for programs and for people, its exit status, `/readyz` and the metrics."""
    commands("pulls", "add", "ecb", "--schedule", "off")
    commands.take("shops", [SHOP, SHOP | {"shop_id": "b.example"}])
    for events in ([], [event(), event(shop_id="b.example", event_id="e2")]):
        commands.take("events", events)
        if events:
            die(commands, "pull", "ecb")
        commands("rollup")
        now = now_micros()
        found = findings(commands, now)
        numbers = Counter(one.condition for one in found)
        assert numbers == ({"unknown-forms": 2, "pull-failed": 1} if events else {})
        assert gauges(commands, now) == numbers
        assert ready(commands, now) == sorted(numbers)
        report = commands.status(1 if found else 0)
        listed = [(one["condition"], one["subject"]) for one in report["conditions"]]
        assert listed == [(one.condition, one.subject) for one in found]
        assert report["problems"] == [one.message for one in found]
        said = commands("status", status=1 if found else 0)
        assert said.count("NEEDS YOU: ") == len(found)


def die(commands: Commands, *words: str) -> None:
    """Run a job that is killed as soon as it is recorded, as by the kernel where memory is short."""
    dying = kill_at_call("jobs.run.job_run.Heartbeat", 1)
    assert commands.start(*words, before=dying).wait() == -9


def test_a_scheduler_that_was_stopped(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.settings["REFRESH_MINUTES"] = "7"
    scheduler = started(commands)
    del commands.settings["REFRESH_MINUTES"]
    # The schedule is that of the scheduler, not of the environment that `status` has.
    said = commands("status")
    assert f":{scheduler.pid}, since" in said
    assert "refresh  every 7 minutes; next " in said
    scheduler.kill()
    scheduler.wait()
    assert needs(commands) == {}
    assert needs(commands, now_micros() + 9 * MINUTE) == {}
    assert needs(commands, now_micros() + 11 * MINUTE) == {"no-scheduler": [""]}
    commands.change(f"UPDATE scheduler SET seen_at = seen_at - {12 * MINUTE}")
    # Its next refresh is not due before its seven minutes are over.
    commands.change(f"UPDATE scheduler SET due_at = {now_micros() + MINUTE}")
    assert needs(commands) == {}
    commands.change(f"UPDATE scheduler SET due_at = {now_micros() - MINUTE}")
    assert needs(commands) == {"no-scheduler": [""]}
    said = commands("status", status=1)
    assert "NEEDS YOU: no scheduler has been seen for 12 minutes, and its jobs are due." in said
    assert "no scheduler runs (the last one was seen 20" in said
    started(commands)
    commands.wait_until("SELECT COUNT(*) > 1 FROM scheduler")
    assert needs(commands) == {}


def test_a_pull_that_no_scheduler_runs(commands: Commands) -> None:
    commands("pulls", "add", "ecb")
    assert needs(commands) == {}
    assert needs(commands, now_micros() + 25 * HOUR) == {"no-scheduler": [""]}
    commands.change(f"UPDATE pull SET set_up_at = {now_micros() - 25 * HOUR}")
    assert needs(commands) == {"no-scheduler": [""]}
    commands("pulls", "add", "ecb", "--schedule", "off")
    assert needs(commands) == {}


def test_rows_that_wait_for_more_than_three_refreshes(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.take("orders", [order()])
    assert needs(commands) == {}
    commands.change(f"UPDATE import_batch SET imported_at = {now_micros() - 14 * MINUTE}")
    assert needs(commands) == {}
    commands.change(f"UPDATE import_batch SET imported_at = {now_micros() - 16 * MINUTE}")
    assert needs(commands) == {"backlog": ["a.example"]}
    commands("rollup")
    assert needs(commands) == {}
    # So it is with a shop that has figures.
    commands.take("orders", [order(order_id="o2")])
    commands.change("UPDATE import_batch SET imported_at = 1 WHERE batch_id > 1")
    assert needs(commands) == {"backlog": ["a.example"]}


def test_a_batch_that_is_set_aside_does_not_wait(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.take("orders", [order()])
    commands("rollup")
    commands.take("orders", [order(order_id="o2")])
    commands.change("UPDATE import_batch SET imported_at = 1 WHERE batch_id > 1")
    commands.change(
        "INSERT INTO edition_batch (edition, batch_id, attempts, retry_at, error) "
        "SELECT s.edition, b.batch_id, 5, 4611686018427387904, 'x' FROM shop s, import_batch b "
        "WHERE b.batch_id > 1"
    )
    assert needs(commands) == {"set-aside": ["a.example"]}
    # To take the import back mends it.
    commands("imports", "undo", "3")
    assert needs(commands) == {}


def test_a_shop_with_daily_orders_that_stop(commands: Commands) -> None:
    daily_orders(commands, 14, timedelta(hours=47))
    assert needs(commands) == {}
    assert needs(commands, now_micros() + 2 * HOUR) == {"no-orders": ["a.example"]}
    commands.change(f"UPDATE fact_order SET created_at = created_at - {2 * HOUR}")
    assert needs(commands) == {"no-orders": ["a.example"]}
    # A shop that closed is no alarm for ever.
    assert needs(commands, now_micros() + 29 * MICROS_PER_DAY) == {}


def test_a_shop_with_few_orders_may_have_none_for_days(commands: Commands) -> None:
    daily_orders(commands, 9, timedelta(days=3))
    assert needs(commands) == {}
    commands.take("orders", [order(order_id="late", created_at=days_ago(13))])
    commands("rollup")
    assert needs(commands) == {"no-orders": ["a.example"]}


def test_a_shop_whose_pages_stop_to_send(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.take(
        "events",
        [
            event(event_id=f"e{day}", form_session_id=f"s{day}", occurred_at=days_ago(day))
            for day in range(14)
        ],
    )
    commands.take("forms", [{"form_id": FORM, "shop_id": "a.example", "name": "Quiz"}])
    commands("rollup")
    assert needs(commands) == {}
    assert needs(commands, now_micros() + 2 * MICROS_PER_DAY) == {}
    assert needs(commands, now_micros() + 4 * MICROS_PER_DAY) == {"no-events": ["a.example"]}
    # A shop that has closed is no alarm for ever.
    assert needs(commands, now_micros() + 32 * MICROS_PER_DAY) == {}


def test_a_collector_that_is_seen_no_more(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    engine = open_engine(commands.url)
    with writing(engine) as connection:
        collectors.record_heartbeat(connection, "here", now_micros())
    engine.dispose()
    later = now_micros() + 11 * MINUTE
    # Without a write key nobody can send.
    assert needs(commands, later) == {}
    commands.change(
        "INSERT INTO write_key (write_key, shop_key, revoked_at) VALUES ('k', 1, 4611686018427387904)"
    )
    assert needs(commands) == {}
    assert needs(commands, later) == {"no-collector": [""]}
    commands.change("UPDATE write_key SET revoked_at = 1")
    assert needs(commands, later) == {}


def days_ago(days: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()


def test_more_than_a_twentieth_of_the_rows_of_a_day_rejected(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    file = commands.folder / "o.ndjson"
    good = [order(order_id=f"o{number}") for number in range(19)]
    file.write_bytes(as_ndjson([*good, order(order_id="x", total_cents=-1)]))
    commands("import", "orders", str(file), status=3)
    commands("rollup")
    # One of 20 orders and a shop.
    assert needs(commands) == {}
    commands.land("orders", "o.ndjson", as_ndjson([order(order_id="y", total_cents=-1)]))
    commands("landing")
    assert needs(commands) == {"many-rejects": [""]}
    assert "2 of the 22 rows that were imported within 24 hours were rejected (9.1 %)" in commands(
        "status", status=1
    )
    assert needs(commands, now_micros() + 25 * HOUR) == {}
    commands("rejects", "--dismiss")
    assert needs(commands) == {}


def test_rejects_that_were_dismissed_beside_others(commands: Commands) -> None:
    """A single reject of any shop kept the condition up for a day."""
    commands.take("shops", [SHOP])
    commands.take("orders", [order(order_id=f"o{number}") for number in range(40)])
    for kind, rows in (
        ("orders", [order(order_id=f"x{number}", total_cents=-1) for number in range(9)]),
        ("events", [event(type="sneeze")]),
    ):
        file = commands.folder / f"{kind}.ndjson"
        file.write_bytes(as_ndjson(rows))
        commands("import", kind, str(file), status=3)
    commands("rollup")
    assert needs(commands) == {"many-rejects": [""]}
    commands("rejects", "--dismiss", "--kind", "orders")
    # One of 51 rows is left.
    assert needs(commands) == {}


def test_rejects_of_an_import_that_was_undone(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.take("orders", [order(order_id=f"o{number}") for number in range(19)])
    commands("rollup")
    file = commands.folder / "x.ndjson"
    for number in range(2):
        file.write_bytes(as_ndjson([order(order_id=f"x{number}", total_cents=-1)]))
        commands("import", "orders", str(file), status=3)
    assert needs(commands) == {"many-rejects": [""]}
    (newest,) = commands.rows("SELECT MAX(import_id) FROM import_file")
    commands("imports", "undo", str(newest))
    # One of 21 rows is left, and it is on record.
    assert needs(commands) == {}
    commands.change("UPDATE import_file SET state = 'done'")
    assert needs(commands) == {"many-rejects": [""]}


def test_a_dropped_file_that_waits_for_tomorrow(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.change(
        "INSERT INTO task (shop_key, subject, kind, item, payload, due_at, result) "
        f"SELECT shop_key, 'file', 'land', 'dropped-1', 'a\u202e.csv', {NEVER}, '{{}}' FROM shop"
    )
    assert needs(commands) == {"rows-limit": [SHOP["shop_id"]]}
    (problem,) = commands.status(1)["conditions"]
    assert "dropped a file, 'a\\u202e.csv', with which" in problem["message"]
    assert f"tasks: 1\n  land for {SHOP['shop_id']}\n" in commands("status", status=1)
    assert [one["kind"] for one in commands.status(1)["tasks"]] == ["land"]


def test_events_beyond_the_bytes_of_a_shop(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    now = now_micros()
    for calls in (3, 4):
        engine = open_engine(commands.url)
        with writing(engine) as connection:
            collectors.add_uncollected(connection, {(1, collectors.TOO_MANY_BYTES): calls}, now)
            collectors.add_uncollected(connection, {(1, collectors.NO_ID): 1}, now)
            # A shop that was deleted meanwhile.
            collectors.add_uncollected(connection, {(7, collectors.TOO_MANY_BYTES): 1}, now)
        engine.dispose()
    assert needs(commands, now) == {"collect-limit": [SHOP["shop_id"]]}
    assert f"the collector refused 7 events of {SHOP['shop_id']}" in commands("status", status=1)
    assert needs(commands, now + 2 * MICROS_PER_DAY) == {}


def test_events_of_forms_that_are_not_known(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.take("events", [event(), event(event_id="e2", form_id=FORM.replace("0", "1"))])
    commands("rollup")
    assert needs(commands) == {"unknown-forms": ["a.example"]}
    assert "events of a.example name 2 forms that are not known, such as 0190c4a2-" in commands(
        "status", status=1
    )
    forms = [
        {"form_id": form, "shop_id": "a.example", "name": "A"}
        for form in (FORM, FORM.replace("0", "1"))
    ]
    commands.take("forms", forms[:1])
    assert needs(commands) == {"unknown-forms": ["a.example"]}
    commands.take("forms", forms[1:])
    assert needs(commands) == {}


def test_forms_that_a_member_had_forgotten_are_not_asked_for(commands: Commands) -> None:
    """Their events stay, and name them."""
    commands.take("shops", [SHOP])
    calls = [
        event(event_id=form, source="segment", form_id=form, type="view")
        for form in ("junk", "trash")
    ]
    commands.take("events", calls)
    commands("rollup")
    engine = open_engine(commands.url)
    with writing(engine) as connection:
        visitors = {text_id(form_id_of(SHOP["shop_id"], "segment", "junk")): 1}
        assert forget_few(connection, 1, visitors, 2, 0) == 1
    engine.dispose()
    assert needs(commands) == {}
    # One that nobody knows of still is.
    commands.take("events", [event(event_id="other")])
    commands("rollup")
    assert needs(commands) == {"unknown-forms": ["a.example"]}
    assert "name 1 form that is not known" in commands("status", status=1)


def test_events_that_are_in_no_funnel_name_forms_too(commands: Commands) -> None:
    firsts = {
        "answer.example": answer("yes"),
        "nothing.example": answer([]),
        "view.example": event(type="step_view", step_id="st", step_index=0),
        "complete.example": event(type="step_complete", step_id="st", step_index=0),
    }
    shops = sorted(firsts)
    commands.take("shops", [SHOP | {"shop_id": shop} for shop in shops])
    commands.take("events", [first | {"shop_id": shop} for shop, first in firsts.items()])
    commands("rollup")
    assert commands.rows("SELECT COUNT(*) FROM daily_funnel") == [0]
    assert {name: sorted(found) for name, found in needs(commands).items()} == {
        "unknown-forms": shops
    }
    # A form of either sort is counted once; those between them are not left out.
    forms = [FORM, *(FORM[:-1] + digit for digit in "123456789")]
    for shop, first in firsts.items():
        others = [event(event_id=form, form_id=form, shop_id=shop) for form in forms[::2]]
        more = [
            first | {"event_id": f"again {form}", "form_id": form, "shop_id": shop}
            for form in forms
        ]
        commands.take("events", others + more)
    commands("rollup")
    messages = "".join(finding["message"] for finding in commands.status(1)["conditions"])
    for shop in shops:
        assert f"events of {shop} name 10 forms that are not known" in messages


def test_a_verify_that_finds_a_difference(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.take("orders", [order()])
    commands("rollup")
    commands("verify", "--all")
    assert needs(commands) == {}
    commands.change("UPDATE daily_attribution SET gross = gross + 1")
    commands("verify", "--all", status=1)
    assert needs(commands) == {"verify-failed": ["a.example"]}
    commands("rebuild")
    # Nobody knows yet that the figures are right again.
    assert needs(commands) == {"verify-failed": [""]}
    commands("verify", "--all")
    assert needs(commands) == {}


def test_an_undo_that_was_given_up(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.take("orders", [order()])
    commands("rollup")
    commands.ask_undo("import_id = 2")
    commands.change("UPDATE task SET attempts = 3")
    assert needs(commands) == {}
    commands("rollup", "--refresh")
    assert needs(commands) == {"removal-failed": [SHOP["shop_id"]]}
    (finding,) = findings(commands, now_micros())
    assert "could not undo import 2 of a.example (3 processes ended" in finding.message
    assert "undo 2`" in finding.message
    commands("imports", "undo", "2")
    assert needs(commands) == {}


def test_a_pull_that_fails(commands: Commands) -> None:
    with serving(lambda _asked: Answer(status=404)) as server:
        commands("pulls", "add", "ecb", "--url", f"{server.url}/x.zip", "--schedule", "off")
        assert needs(commands) == {}
        commands("pull", "ecb", status=1)
    assert needs(commands) == {"pull-failed": ["ecb"]}
    commands("pulls", "remove", "ecb")
    assert needs(commands) == {}


def test_a_pull_a_verify_and_a_nightly_rollup_that_were_killed(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.take("orders", [order()])
    commands("pulls", "add", "ecb", "--schedule", "off")
    commands("rollup")
    assert needs(commands) == {}
    die(commands, "verify")
    die(commands, "run", "nightly")
    die(commands, "pull", "ecb")
    assert needs(commands) == {
        "verify-failed": [""],
        "nightly-failed": [""],
        "pull-failed": ["ecb"],
    }
    assert "failed: its process ended before it was done" in commands("status", status=1)
    # Each is made up for by its next run, and the nightly one by a refresh.
    commands("verify")
    commands("run", "refresh")
    commands("pulls", "remove", "ecb")
    commands("pulls", "add", "ecb", "--schedule", "off")
    assert needs(commands) == {}


def test_an_import_that_was_taken_back_leaves_nothing_that_waits(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.take("orders", [order()])
    commands("imports", "undo", "2")
    commands.change("UPDATE import_batch SET imported_at = 1")
    assert needs(commands) == {}
    commands.take("orders", [order(order_id="o2")])
    commands("rollup")
    commands.take("orders", [order(order_id="o3")])
    commands("imports", "undo", "4")
    commands.change("UPDATE import_batch SET imported_at = 1")
    assert needs(commands) == {}
