"""A batch that fails stops no other, is tried again, set aside, and mended; an outage is no failure."""

from tests.support.import_files import event, order
from tests.support.job_commands import Commands
from tests.support.poison import CURE, POISON, SHOPS, poisoned


def test_a_poisoned_batch_stops_no_other_and_is_mended(commands: Commands) -> None:
    commands.settings["BATCH_MAX_ATTEMPTS"] = "2"
    poisoned(commands)
    said = commands("rollup", status=1)
    assert "batch 2 of a.example (1 rows) failed and will be tried again: JSONDecodeError" in said
    assert "Error: 1 batch could not be applied" in said
    assert commands.orders_of_shops() == {"a.example": 2, "b.example": 1}
    found = commands.status()
    assert found["problems"] == []
    assert [(one["batch_id"], one["attempts"], one["set_aside"]) for one in found["failing"]] == [
        (2, 1, False)
    ]
    assert [shop["waiting_rows"] for shop in found["shops"]] == [1, 0]
    # A refresh waits for the time of the next try.
    commands("rollup", "--refresh")
    assert commands.status()["failing"][0]["attempts"] == 1
    assert "SET ASIDE" in commands("rollup", status=1)
    (problem,) = commands.status(status=1)["problems"]
    assert "batch 2 of a.example is set aside after 2 attempts" in problem
    assert "NEEDS YOU: batch 2" in commands("status", status=1)
    commands("rollup", "--refresh")
    commands.take("orders", [order(order_id="four")])
    commands("rollup", "--refresh")
    assert commands.orders_of_shops() == {"a.example": 3, "b.example": 1}
    commands.change(CURE)
    commands("rollup")
    assert commands.orders_of_shops() == {"a.example": 4, "b.example": 1}
    found = commands.status()
    assert (found["problems"], found["failing"]) == ([], [])
    assert "no differences" in commands("verify", "--all")


def test_a_failure_is_tried_again_when_its_time_has_come(commands: Commands) -> None:
    poisoned(commands)
    commands("rollup", "--refresh", status=1)
    commands.change(CURE)
    commands("rollup", "--refresh")
    assert commands.orders_of_shops()["a.example"] == 2
    commands.change("UPDATE edition_batch SET retry_at = 1 WHERE attempts > 0")
    commands("rollup", "--refresh")
    assert commands.orders_of_shops()["a.example"] == 3


def test_the_first_wait_is_five_minutes_and_each_further_one_twice_as_long(
    commands: Commands,
) -> None:
    poisoned(commands)
    for minutes in (5, 10, 20):
        commands("rollup", status=1)
        (wait,) = commands.rows("SELECT retry_at - failed_at FROM edition_batch WHERE attempts > 0")
        assert wait == minutes * 60 * 1_000_000


def test_a_rebuild_without_a_batch_that_answers_have_does_not_take_their_place(
    commands: Commands,
) -> None:
    commands.settings["BATCH_MAX_ATTEMPTS"] = "1"
    commands.take("shops", SHOPS[:1])
    commands.take("orders", [order(order_id="bad")])
    commands("rollup")
    commands.change(POISON)
    commands.take("orders", [order(order_id="two")])
    assert "SET ASIDE" in commands("rebuild", status=1)
    assert commands.orders_of_shops() == {"a.example": 1}
    assert commands.status(status=1)["shops"][0]["state"] == "building"
    # Meanwhile the answers go on.
    commands("rollup", status=1)
    assert commands.orders_of_shops() == {"a.example": 2}
    commands.change(CURE)
    commands("rollup")
    found = commands.status()
    assert (found["shops"][0]["state"], found["failing"]) == ("current", [])
    assert commands.orders_of_shops() == {"a.example": 2}


def test_a_new_shop_is_answered_without_the_batch_that_is_set_aside(commands: Commands) -> None:
    commands.settings["BATCH_MAX_ATTEMPTS"] = "1"
    commands.take("shops", SHOPS[:1])
    commands.take("orders", [order(order_id="bad")])
    commands.take("events", [event()])
    commands.change(POISON)
    commands("rollup", status=1)
    assert commands.rows("SELECT COUNT(*) FROM daily_all_forms") == [1]
    assert commands.status(status=1)["shops"][0]["state"] == "current"


def test_where_all_fails_the_rest_is_left_for_the_next_time(commands: Commands) -> None:
    commands.take("shops", SHOPS)
    for number in range(9):
        commands.take("orders", [order(order_id=f"o{number}")])
    commands.take("orders", [order(shop_id="b.example", order_id="three")])
    commands.change("UPDATE raw_order SET codes = 'no list' WHERE order_id LIKE 'o%'")
    commands("rollup", status=1)
    found = commands.status()
    assert len(found["failing"]) == 3
    assert commands.orders_of_shops() == {"b.example": 1}
    commands.change("UPDATE raw_order SET codes = '[]'")
    commands("rollup")
    assert commands.orders_of_shops() == {"a.example": 9, "b.example": 1}
