"""Events and versions of orders count once their batch is applied: what is only imported changes nothing."""

import pytest

from tests.support.import_files import event, order
from tests.support.job_commands import SHOP, Commands
from warehouse.domain.time import NEVER

REFUNDED = order(updated_at="2026-01-08T00:00:00Z", cancelled_at="2026-01-08T00:00:00Z")
REVENUE = "SELECT gross, refunded FROM fact_order"


@pytest.fixture
def jobs(commands: Commands) -> Commands:
    """A shop with an order that is rolled up, and a later version of it that waits."""
    commands.take("shops", [SHOP])
    # Random days are those with events.
    commands.take("events", [event(occurred_at=order()["created_at"])])
    commands.take("orders", [order()])
    commands("rollup")
    commands.take("orders", [REFUNDED])
    return commands


@pytest.mark.parametrize("words", [["--sample", "3"], ["--all"]])
def test_verify_does_not_compare_it(jobs: Commands, words: list[str]) -> None:
    assert jobs("verify", *words).endswith("no differences\n")
    jobs("rollup")
    assert jobs.rows(REVENUE) == [(1000, 1000)]
    assert jobs("verify", *words).endswith("no differences\n")


def wait(jobs: Commands) -> None:
    """The last batch has failed before, and is not due."""
    jobs.change(
        "INSERT INTO edition_batch (edition, batch_id, attempts, failed_at, retry_at, error) "
        f"SELECT edition, (SELECT MAX(batch_id) FROM import_batch), 1, 0, {10**18}, '' FROM shop"
    )


def test_an_event_that_waits_does_not_come_with_others_of_its_session(jobs: Commands) -> None:
    jobs("rollup")
    jobs.take("events", [event(event_id="waits", type="complete")])
    wait(jobs)
    jobs.take("events", [event(event_id="comes", type="start")])
    jobs("rollup", "--refresh")
    milestones = (
        f"SELECT started_at < {NEVER} AS started, completed_at < {NEVER} AS completed "
        "FROM fact_form_session"
    )
    assert [tuple(map(bool, row)) for row in jobs.rows(milestones)] == [(True, False)]
    assert jobs("verify", "--all").endswith("no differences\n")
    jobs("rollup")
    assert [tuple(map(bool, row)) for row in jobs.rows(milestones)] == [(True, True)]
    assert jobs("verify", "--all").endswith("no differences\n")


def test_a_batch_before_it_does_not_bring_it(jobs: Commands) -> None:
    """The version that waits has failed before; one that is older comes late."""
    wait(jobs)
    jobs.take("orders", [order(updated_at="2026-01-05T00:00:00Z", total_cents=900)])
    jobs("rollup", "--refresh")
    assert jobs.rows(REVENUE) == [(900, 0)]
    assert jobs("verify", "--all").endswith("no differences\n")
    jobs("rollup")
    assert jobs.rows(REVENUE) == [(1000, 1000)]
    assert jobs("verify", "--all").endswith("no differences\n")


def test_it_decides_neither_about_emails_nor_about_steps(jobs: Commands) -> None:
    """Where days are derived anew, too. An undo builds anew, and then it counts."""

    def decided() -> list[tuple[str, str]]:
        return jobs.rows("SELECT e.customer_id, s.step_name FROM fact_email e, dim_step s")

    jobs("rollup")
    for day, name in enumerate(("stands", "is undone", "waits"), 1):
        step = {"type": "step_view", "step_id": "s1", "step_index": 1, "step_name": name}
        at = f"2026-02-{day:02}T00:00:00Z"
        seen = {"email": "ada@mail.example", "customer_id": name, "occurred_at": at}
        jobs.take("events", [event(event_id=name, **step, **seen)], f"{name}.ndjson")
        if name == "waits":
            wait(jobs)
        else:
            jobs("rollup")
    assert decided() == [("is undone", "is undone")]
    for words in (["--sample", "9"], ["--all"]):
        assert jobs("verify", *words).endswith("no differences\n")
    jobs("imports", "undo", str(jobs.rows("SELECT MAX(import_id) - 1 FROM import_file")[0]))
    assert decided() == [("waits", "waits")]
    assert jobs("verify", "--all").endswith("no differences\n")
