"""An undo and a forget delete raw rows, and the shop's next edition is built without them: answers are the
old ones or the new ones, and both are done only when no edition has the rows any more."""

import signal
from typing import Any

import pytest

from tests.support.commands import kill_at_call, stop_at_call
from tests.support.forgetting import left_of
from tests.support.import_files import event, order
from tests.support.job_commands import SHOP, Commands

ADA = {"visitor_id": "visitor-of-ada", "customer_id": "customer-of-ada"}
BUILDS = "jobs.pipeline.apply_batch.apply"
PUBLISHES = "warehouse.editions.editions.publish"
DROPS = "warehouse.editions.editions.drop"


def fill(commands: Commands) -> None:
    """Import 2 has events of Ada and of others, and import 3 an order of hers."""
    commands.take("shops", [SHOP])
    commands.take(
        "events",
        [event(event_id=f"e{n}", form_session_id=f"s{n}", visitor_id=f"v{n}") for n in range(5)]
        + [event(event_id="ada", form_session_id="of-ada", **ADA)],
    )
    commands.take("orders", [order(**ADA), order(order_id="o2")])
    commands("rollup")


def answered(commands: Commands) -> tuple[int, ...]:
    """The form sessions and the orders that answers have."""
    return tuple(
        commands.rows(f"SELECT COUNT(*) FROM {table} f JOIN shop s ON s.edition = f.edition")[0]
        for table in ("fact_form_session", "fact_order")
    )


def killed(commands: Commands, place: str, number: int, *words: str) -> None:
    """Run a command that kills itself at a call of a function; two raw rows are a portion."""
    before = kill_at_call(place, number, {"jobs.pipeline.batching.BATCH_ROWS": 8})
    assert commands.start(*words, before=before).wait() == -9


def ended(commands: Commands) -> tuple[list[Any], list[Any]]:
    """The imports that are undone, and how many persons are forgotten."""
    return (
        commands.rows("SELECT import_id FROM import_file WHERE state = 'undone'"),
        commands.rows("SELECT COUNT(*) FROM forgotten WHERE removed_at > 0"),
    )


FORGET = ("forget", "--shop", "a.example", "--visitor", ADA["visitor_id"])
UNDO = ("imports", "undo", "2")


@pytest.mark.parametrize(
    ("words", "after", "done"), [(FORGET, (5, 1), ([], [1])), (UNDO, (0, 2), ([2], [0]))]
)
@pytest.mark.parametrize(
    ("place", "number", "is_new"),
    [
        ("warehouse.editions.editions.freeze", 1, False),
        ("jobs.pipeline.removal.delete_staged_events", 1, False),
        ("jobs.pipeline.removal.count_rows_left", 1, False),
        (BUILDS, 1, False),
        (PUBLISHES, 1, False),
        (DROPS, 3, True),
    ],
)
def test_a_kill_leaves_the_old_figures_or_the_new(
    commands: Commands,
    words: tuple[str, ...],
    after: tuple[int, int],
    done: tuple[Any, Any],
    place: str,
    number: int,
    is_new: bool,
) -> None:
    fill(commands)
    killed(commands, place, number, *words)
    assert answered(commands) == (after if is_new else (6, 2))
    assert ended(commands) == ([], [0])
    # Nothing but what ends it first changes the figures: a rebuild would have half of it.
    commands("rebuild")
    assert answered(commands) in ((6, 2), after)
    assert commands("verify", "--all") == "no differences\n"
    commands("rollup")
    assert answered(commands) == after
    assert ended(commands) == done
    assert commands.rows("SELECT DISTINCT state FROM edition") == ["current"]
    assert commands("verify", "--all") == "no differences\n"


def test_no_edition_begins_while_rows_are_to_go(commands: Commands) -> None:
    fill(commands)
    killed(commands, "jobs.pipeline.removal.delete_staged_events", 2, *UNDO)
    assert commands.rows("SELECT COUNT(*) FROM raw_event") == [4]
    commands("rebuild")
    assert answered(commands) == (6, 2)
    assert commands.rows("SELECT state FROM edition") == ["frozen"]


def test_a_person_is_forgotten_when_no_edition_has_the_person(commands: Commands) -> None:
    fill(commands)
    killed(commands, PUBLISHES, 1, *FORGET)
    names, is_file = (ADA["visitor_id"], "of-ada"), commands.url.startswith("sqlite")
    if is_file:
        assert left_of(commands.url, None, *names) == ["of-ada"]
    assert commands.rows("SELECT rows_gone_at > 0, removed_at FROM forgotten") == [(True, 0)]
    commands("rollup", "--refresh")
    if is_file:
        assert left_of(commands.url, None, *names) == []
    assert commands.rows("SELECT removed_at >= rows_gone_at FROM forgotten") == [True]


def test_late_rows_are_in_the_next_edition(commands: Commands) -> None:
    """The frozen edition gets none, and nothing is lost."""
    fill(commands)
    killed(commands, BUILDS, 1, *FORGET)
    commands.take(
        "events", [event(event_id="late", form_session_id="s0"), event(event_id="l2", **ADA)]
    )
    commands.take("events", [event(event_id="more", form_session_id="later")])
    assert answered(commands) == (6, 2)
    commands("rollup")
    assert answered(commands) == (6, 1)
    assert commands("verify", "--all") == "no differences\n"


def test_several_share_one_build(commands: Commands) -> None:
    fill(commands)
    (before,) = commands.rows("SELECT MAX(edition) FROM edition")
    killed(commands, "jobs.pipeline.removal.delete_staged_events", 1, "imports", "undo", "3")
    killed(commands, "jobs.pipeline.removal.delete_staged_events", 1, *FORGET)
    commands("rollup")
    assert answered(commands) == (5, 0)
    assert ended(commands) == ([3], [1])
    assert commands.rows("SELECT edition FROM edition") == [before + 1]


def test_an_undo_of_what_changes_no_figure_builds_nothing(commands: Commands) -> None:
    fill(commands)
    before = commands.rows("SELECT edition, rolled_up_at FROM edition")
    commands.take("events", [event(event_id="e1", form_session_id="s1", visitor_id="v1")])
    assert "0 rows are gone" in commands("imports", "undo", "4")
    assert commands.rows("SELECT state FROM import_file WHERE import_id = 4") == ["undone"]
    forgotten = commands("forget", "--shop", "a.example", "--visitor", "nobody")
    assert forgotten == "removed: events 0  versions of orders 0  rejected rows 0\n"
    assert commands.rows("SELECT COUNT(*) FROM forgotten WHERE removed_at > 0") == [1]
    assert commands.rows("SELECT edition, rolled_up_at FROM edition") == before


def test_status_says_since_when_figures_are_recomputed(commands: Commands) -> None:
    fill(commands)
    (shop,) = commands.status(1)["shops"]
    assert (shop["state"], shop["recomputing_since"]) == ("current", None)
    killed(commands, BUILDS, 1, "imports", "undo", "3")
    (shop,) = commands.status(1)["shops"]
    assert shop["state"] == "building"
    since = shop["recomputing_since"]
    assert f"(recomputing since {since}, until then as before)" in commands("status", status=1)
    day = ("--shop", "a.example", "--day", "2026-01-02")
    said = commands("explain", "/v1/attribution", *day, status=1)
    assert "are from before rows of it were removed" in said
    commands("rollup")
    (shop,) = commands.status(1)["shops"]
    assert (shop["state"], shop["recomputing_since"]) == ("current", None)
    commands("explain", "/v1/attribution", *day)


def test_an_undo_says_where_its_figures_could_not_be_built(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(commands)

    def fail(*_: object) -> None:
        raise ValueError("no figure")

    with monkeypatch.context() as patch:
        patch.setattr(BUILDS, fail)
        said = commands(*UNDO, status=1)
    assert "could not be applied" in said
    assert answered(commands) == (6, 2)
    assert ended(commands) == ([], [0])
    commands("rollup")
    assert answered(commands) == (0, 2)


@pytest.mark.parametrize(("first", "second"), [(UNDO, FORGET), (FORGET, UNDO)])
def test_an_undo_and_a_forget_side_by_side_are_both_done(
    commands: Commands, first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    """No edition begins while one of them removes rows: the other waits, and is not told to roll up."""
    fill(commands)
    stopped = commands.start(*first, before=stop_at_call("jobs.pipeline.removed_rows.stage", 1))
    stopped.wait_until_stopped()
    meanwhile = commands.start(*second)
    if first == UNDO:
        meanwhile.says("waiting for another job")
        assert answered(commands) == (6, 2)
    else:
        # It has removed the rows of both.
        meanwhile.finish()
    stopped.send(signal.SIGCONT)
    stopped.finish()
    meanwhile.finish()
    assert (answered(commands), ended(commands)) == ((0, 1), ([2], [1]))
    assert commands("verify", "--all") == "no differences\n"


def test_a_forget_goes_on_with_an_undo_whose_process_died_meanwhile(commands: Commands) -> None:
    fill(commands)
    undo = commands.start(*UNDO, before=stop_at_call("jobs.pipeline.removed_rows.stage", 1))
    undo.wait_until_stopped()
    forgetting = commands.start(*FORGET)
    forgetting.says("waiting for another job")
    undo.kill()
    forgetting.finish()
    assert (answered(commands), ended(commands)) == ((0, 1), ([2], [1]))


def test_a_forget_says_where_rows_of_the_shop_are_still_to_go(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No edition begins before an undo that fails is mended."""
    fill(commands)
    commands.ask_undo("import_id = 3")

    def fail(*_: object) -> None:
        raise ValueError("not yet")

    with monkeypatch.context() as patch:
        patch.setattr("jobs.importing.undo.remove_rows", fail)
        said = commands(*FORGET, status=1)
    assert "the undo of import 3 of shop 1 failed" in said
    assert "the rows are gone; the figures of a.example have them until another" in said
    assert (answered(commands), ended(commands)) == ((6, 2), ([], [0]))
    commands("rollup")
    assert (answered(commands), ended(commands)) == ((5, 0), ([3], [1]))


@pytest.mark.parametrize(
    ("kind", "words", "done"), [("undo", UNDO, ([2], [0])), ("forget", FORGET, ([], [1]))]
)
def test_a_removal_with_which_processes_end_is_given_up(
    commands: Commands,
    kind: str,
    words: tuple[str, ...],
    done: tuple[Any, Any],
) -> None:
    """The work of others goes on, figures are as before, and who asks again has it done."""
    fill(commands)
    deadly = "jobs.pipeline.removal.delete_staged_events"
    killed(commands, deadly, 1, *words)
    for attempts in (1, 2, 3):
        killed(commands, deadly, 1, "rollup", "--refresh")
        (task,) = commands.status(1)["tasks"]
        assert (task["kind"], task["attempts"], task["reason"]) == (kind, attempts, None)
    commands("rollup", "--refresh")
    (task,) = commands.status(1)["tasks"]
    assert "processes ended" in task["reason"]
    assert f"{kind} for a.example" in commands("status", status=1)
    assert (answered(commands), ended(commands)) == ((6, 2), ([], [0]))
    commands(*words)
    assert ended(commands) == done
    assert commands.rows("SELECT kind FROM task WHERE ended_at = 0 OR result <> '{}'") == []
    assert commands("verify", "--all") == "no differences\n"
