"""An import that is undone: what its rows decided is decided by those that are left."""

from tests.support.stage import A, Stage, pick

AT = "2026-01-01T00:00:00Z"
LATER = "2026-01-02T00:00:00Z"
MAIL = "ann@mail.example"


def decided(stage: Stage) -> tuple[object, ...]:
    """How many orders are credited to a submission, and the place and name of the step."""
    credits = stage.ask("/v1/attribution")
    steps = stage.ask(f"/v1/forms/{A}/steps/dropoff")
    credited = sum(row["orders"] for row in credits if row["attributionType"] != "unattributed")
    return credited, pick(steps, "stepIndex", "stepName")


def test_an_email_and_a_step_are_what_they_were(stage: Stage) -> None:
    stage.event("subscribe", AT, "buyer", visitor_id="buyer", email=MAIL)
    stage.event("view", AT, customer_id="c1", email=MAIL)
    stage.event("step_view", AT, step_id="q", step_index=1, step_name="Old")
    stage.order("o", LATER, customer_id="c1")
    assert decided(stage) == (1, [(1, "Old")])
    stage.event("view", LATER, "t", customer_id="c2", email=MAIL)
    stage.event("step_view", LATER, "t", step_id="q", step_index=2, step_name="New")
    assert decided(stage) == (0, [(2, "New")])
    stage.undo_last_import()
    assert decided(stage) == (1, [(1, "Old")])
