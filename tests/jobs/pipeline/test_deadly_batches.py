"""A batch that ends its process is found, and keeps no other shop waiting; whoever kills a process by hand
harms no batch."""

import pytest
from sqlalchemy import make_url

from tests.support.commands import Command
from tests.support.deadly_orders import DEADLY, deadly_path, loaded_from
from tests.support.import_files import order
from tests.support.job_commands import Commands

SHOPS = [{"shop_id": name, "currency": "EUR"} for name in ("a.example", "b.example", "c.example")]
BEFORE = {"a.example": 1}
OTHERS = {"a.example": 2, "b.example": 2, "c.example": 1}


def deadly(commands: Commands, way: str) -> None:
    """Three shops; a batch of the first one ends processes in this way."""
    commands.take("shops", SHOPS)
    commands.take("orders", [order(order_id="o0")])
    # A shop without figures gets none before each of its batches is applied or set aside.
    commands("rollup")
    commands.take("orders", [order(order_id=DEADLY)])
    for shop, number in (("a", 1), ("b", 1), ("b", 2), ("c", 1)):
        commands.take("orders", [order(shop_id=f"{shop}.example", order_id=f"o{number}")])
    commands.settings["PYTHONPATH"] = deadly_path(commands.folder, way)


def refresh(commands: Commands, status: int = 0) -> str:
    return rollup(commands, "--refresh").finish(status)


def rollup(commands: Commands, *words: str) -> Command:
    path = commands.settings.get("PYTHONPATH")
    return commands.start("rollup", *words, before=loaded_from(path) if path else None)


def failing(commands: Commands) -> list[tuple[str, int]]:
    """The errors and attempts of the batches that have failed."""
    report = commands.status(status=commands.rows(SET_ASIDE)[0])
    return [(one["error"], one["attempts"]) for one in report["failing"]]


SET_ASIDE = f"SELECT COUNT(*) FROM edition_batch WHERE retry_at = {2**62}"
NOTHING_LEFT = (
    "SELECT (SELECT COUNT(*) FROM edition_batch WHERE attempts > 0), "
    "(SELECT CAST(SUM(deaths) AS BIGINT) FROM edition), "
    "(SELECT COUNT(*) FROM edition WHERE lease_owner <> '')"
)


def test_the_others_have_figures_after_the_refresh_that_follows_the_first_death(
    commands: Commands,
) -> None:
    commands.settings["BATCH_MAX_ATTEMPTS"] = "3"
    deadly(commands, "dies")
    refresh(commands, status=137)
    assert commands.orders_of_shops() == BEFORE
    said = refresh(commands, status=1)
    assert "batch 2 of a.example (1 rows) failed and will be tried again: its process died" in said
    assert "Error: 1 batch could not be applied" in said
    assert commands.orders_of_shops() == OTHERS
    assert failing(commands) == [("its process died (exit status 137)", 1)]
    # It waits for its time, and holds nobody up then.
    refresh(commands)
    for attempt in (2, 3):
        commands.take("orders", [order(order_id=f"late {attempt}")])
        commands.change("UPDATE edition_batch SET retry_at = 1 WHERE attempts > 0")
        said = refresh(commands, status=1)
        assert commands.orders_of_shops()["a.example"] == attempt + 1
        assert failing(commands) == [("its process died (exit status 137)", attempt)]
    assert "batch 2 of a.example (1 rows) is SET ASIDE after its last try" in said
    # The nightly rollup, and one by hand, try it again; so does the one after its cause was mended.
    assert "SET ASIDE" in rollup(commands).finish(1)
    del commands.settings["PYTHONPATH"]
    commands("rollup")
    assert commands.orders_of_shops() == OTHERS | {"a.example": 5}
    assert commands.rows(NOTHING_LEFT) == [(0, 0, 0)]
    assert "no differences" in commands("verify", "--all")


def test_where_every_process_dies_with_it_the_record_outlasts_them(commands: Commands) -> None:
    """As in a container that is ended as a whole."""
    deadly(commands, "takes its owner along")
    refresh(commands, status=137)
    # After one death: all together. After two: one by one.
    refresh(commands, status=-9)
    assert failing(commands) == []
    refresh(commands, status=-9)
    assert failing(commands) == [("its process died before it was done", 1)]
    refresh(commands)
    assert commands.orders_of_shops() == OTHERS
    assert failing(commands) == [("its process died before it was done", 1)]


def test_a_process_that_a_person_kills_harms_no_batch(commands: Commands) -> None:
    deadly(commands, "is killed once")
    refresh(commands, status=137)
    assert commands.rows("SELECT COUNT(*) FROM edition WHERE lease_owner <> ''") == [3]
    refresh(commands)
    assert commands.orders_of_shops() == OTHERS | {"a.example": 3}
    assert commands.rows(NOTHING_LEFT) == [(0, 0, 0)]


@pytest.mark.parametrize(
    ("way", "error"),
    [
        ("raises MemoryError", "MemoryError:"),
        ("raises OSError", "OSError: too many open files"),
    ],
)
def test_a_batch_that_needs_too_much_is_a_failed_one(
    commands: Commands, way: str, error: str
) -> None:
    deadly(commands, way)
    said = refresh(commands, status=1)
    assert f"batch 2 of a.example (1 rows) failed and will be tried again: {error}" in said
    assert commands.orders_of_shops() == OTHERS
    commands.change("UPDATE edition_batch SET retry_at = 1 WHERE attempts > 0")
    refresh(commands, status=1)
    assert failing(commands) == [(error, 2)]


def test_where_the_warehouse_does_not_answer_no_batch_is_to_blame(
    postgres_commands: Commands,
) -> None:
    commands = postgres_commands
    deadly(commands, "loses the database")
    url = make_url(commands.url).set(drivername="postgresql")
    commands.settings["DEADLY_URL"] = url.render_as_string(hide_password=False)
    refresh(commands, status=1)
    assert commands.rows("SELECT COUNT(*) FROM edition_batch WHERE attempts > 0") == [0]
    del commands.settings["PYTHONPATH"]
    refresh(commands)
    assert commands.orders_of_shops() == OTHERS | {"a.example": 3}
    assert commands.rows(NOTHING_LEFT) == [(0, 0, 0)]


def test_the_workers_of_an_executor_survive_it_too(postgres_commands: Commands) -> None:
    """But for the first one."""
    commands = postgres_commands
    deadly(commands, "dies")
    commands.change("UPDATE import_batch SET rows = 550000 WHERE shop_key <> 0")
    said = rollup(commands, "--executor", "processes:2").finish(1)
    assert said.count("a worker has died") == 1
    assert commands.orders_of_shops() == OTHERS
    assert failing(commands) == [("its process died (exit status 137)", 1)]
