"""Drop-off (7), time to complete (8), devices (9)."""

from typing import Any

import pytest

from tests.support.stage import A, Stage, pick

DROPOFF = f"/v1/forms/{A}/steps/dropoff"


def step(
    stage: Stage, kind: str, at: str, session: str, name: str, index: int, **more: Any
) -> None:
    stage.event(f"step_{kind}", at, session, step_id=name, step_index=index, **more)


def test_where_sessions_drop_off(stage: Stage) -> None:
    at = "2026-01-01T00:00:0{}Z".format
    # 1: completes a, leaves at b, though it looks at a once more.
    step(stage, "view", at(1), "1", "a", 0, step_name="First")
    step(stage, "complete", at(2), "1", "a", 0)
    step(stage, "view", at(3), "1", "b", 1)
    step(stage, "view", at(4), "1", "a", 0)
    # 2: sees both at once; the greater index is last, and is completed.
    step(stage, "view", at(1), "2", "a", 0)
    step(stage, "view", at(1), "2", "b", 1)
    step(stage, "complete", at(2), "2", "b", 1)
    # 3: completes a step that it never saw, and leaves at a.
    step(stage, "view", at(1), "3", "a", 0)
    step(stage, "complete", at(2), "3", "b", 1)
    # 4: completes the form from a; 5: subscribes, which is not the form's completion.
    step(stage, "view", at(1), "4", "a", 0)
    stage.event("complete", at(2), "4")
    step(stage, "view", at(1), "5", "a", 0)
    stage.event("subscribe", at(2), "5")
    names = ("stepId", "stepIndex", "stepName", "views", "completions", "dropoffs")
    found = stage.ask(DROPOFF)
    assert pick(found, *names) == [("a", 0, "First", 5, 1, 2), ("b", 1, None, 2, 1, 1)]
    assert pick(found, "completionRate", "dropoffRate", "shareOfDropoffs") == [
        (20, 40, 66.67),
        (50, 50, 33.33),
    ]


def test_steps_stand_on_the_day_of_their_own_first_view(stage: Stage) -> None:
    step(stage, "view", "2026-01-01T23:59:59Z", "1", "a", 0)
    step(stage, "complete", "2026-01-02T00:00:01Z", "1", "a", 0)
    step(stage, "view", "2026-01-02T00:00:01Z", "1", "b", 1)
    names = ("stepId", "views", "completions", "dropoffs", "shareOfDropoffs")
    assert pick(stage.ask(DROPOFF, "2026-01-01"), *names) == [("a", 1, 1, 0, 0)]
    assert pick(stage.ask(DROPOFF, "2026-01-02"), *names) == [("b", 1, 0, 1, 100)]


def test_index_and_name_are_those_latest_seen_ever(stage: Stage) -> None:
    step(stage, "view", "2026-01-01T00:00:00Z", "1", "a", 7, step_name="Old")
    step(stage, "view", "2026-01-01T00:00:00Z", "1", "b", 1, step_name="B")
    step(stage, "complete", "2026-05-01T00:00:00Z", "2", "a", 0, step_name="New")
    step(stage, "view", "2026-05-02T00:00:00Z", "2", "a", 2)
    step(stage, "view", "2026-05-02T00:00:00Z", "2", "a", 1)  # the greater event id
    # An answer says on which step it was given, but not how the step is called.
    stage.event(
        "answer",
        "2026-05-03T00:00:00Z",
        "2",
        step_id="a",
        step_index=9,
        step_name="Answer's",
        field_id="f",
        field_type="choice",
        value="x",
    )
    assert pick(stage.ask(DROPOFF, "2026-01-01"), "stepId", "stepIndex", "stepName") == [
        ("a", 1, "New"),
        ("b", 1, "B"),
    ]


def test_time_to_complete(stage: Stage) -> None:
    at = "2026-01-01T23:{}Z".format
    # From the first start to the first completion.
    stage.event("view", at("00:00"), "1", device_type="Mobile")
    for type, moment in (("start", "01:00"), ("start", "01:30"), ("complete", "02:00")):
        stage.event(type, at(moment), "1")
    stage.event("complete", "2026-01-02T05:00:00Z", "1")
    # From the view; from any event; started after the end; nothing but the end.
    stage.event("view", at("00:00"), "2", device_type="smart fridge")
    stage.event("complete", at("00:30"), "2")
    stage.event("subscribe", at("00:00"), "3", device_type="mobile")
    stage.event("complete", at("00:10"), "3")
    stage.event("view", at("00:00"), "4")
    stage.event("complete", at("00:10"), "4")
    stage.event("start", at("00:20"), "4")
    stage.event("complete", at("00:00"), "5", device_type="tablet")
    found = stage.ask(f"/v1/forms/{A}/time-to-complete", "2026-01-01")
    names = ("deviceType", "completions", "averageMs", "minMs", "maxMs")
    near = pytest.approx
    assert pick(found, *names) == [
        ("all", 5, 20_000, 0, near(60_000, rel=0.01)),
        ("mobile", 2, 35_000, near(10_000, rel=0.01), near(60_000, rel=0.01)),
        ("other", 2, 15_000, 0, near(30_000, rel=0.01)),
        ("tablet", 1, 0, 0, 0),
    ]
    everything = found[0]
    assert everything["p25Ms"] == 0
    assert everything["p50Ms"] == near(10_000, rel=0.01)
    assert everything["p75Ms"] == near(30_000, rel=0.01)
    assert everything["p90Ms"] == everything["p99Ms"] == near(60_000, rel=0.01)
    for one in found:
        counts = [bucket["count"] for bucket in one["buckets"]]
        assert len(counts) <= 30
        assert sum(counts) == one["completions"]
    assert stage.ask(f"/v1/forms/{A}/time-to-complete", "2026-01-02") == []


def test_the_device_is_that_of_the_earliest_event_that_carries_one(stage: Stage) -> None:
    stage.event("view", "2026-01-01T00:00:00Z", "1")
    stage.event("start", "2026-01-01T00:00:02Z", "1", device_type="mobile")
    stage.event("start", "2026-01-01T00:00:01Z", "1", device_type="TABLET")
    for session in ("2", "3"):
        stage.event("view", "2026-01-01T00:00:00Z", session, device_type="?")
        stage.event("start", "2026-01-01T00:00:01Z", session, device_type="mobile")
    stage.event("view", "2026-01-01T00:00:00Z", "4", device_type="")
    names = ("deviceType", "views", "starts", "shareOfViews")
    assert pick(stage.ask(f"/v1/forms/{A}/devices"), *names) == [
        ("other", 3, 2, 75),
        ("tablet", 1, 1, 25),
    ]
