"""Answers about the way through a form: contract section 4, endpoints 7 and 8."""

from datetime import timedelta
from fractions import Fraction
from typing import Any

from tests.support.oracle.sessions import Session, dropped_off_at
from tests.support.oracle.state import Question, State, answers
from tests.support.oracle.values import divide, rate

PERCENTILES = (25, 50, 75, 90, 95, 99)


@answers("/v1/forms/{id}/steps/dropoff")
def dropoff(state: State, question: Question) -> Any:
    """7: "All figures on the day of the session's first view of that step. Order: stepIndex,
    stepId." """
    sessions = state.of_form(question.form_id)
    rows: list[dict[str, Any]] = []
    for step_id in {id for session in sessions for id in session.steps}:
        viewed = [
            session
            for session in sessions
            if step_id in session.steps and state.within(session.steps[step_id].viewed_at, question)
        ]
        if viewed:
            index, name = latest_seen(state, question.form_id, step_id)
            completions = sum(session.steps[step_id].completed for session in viewed)
            dropoffs = sum(dropped_off_at(session) == step_id for session in viewed)
            rows.append(
                {
                    "stepId": step_id,
                    "stepIndex": index,
                    "stepName": name,
                    "views": len(viewed),
                    "completions": completions,
                    "dropoffs": dropoffs,
                    "completionRate": rate(completions, len(viewed)),
                    "dropoffRate": rate(dropoffs, len(viewed)),
                }
            )
    all_dropoffs = sum(row["dropoffs"] for row in rows)
    for row in rows:
        row["shareOfDropoffs"] = rate(row["dropoffs"], all_dropoffs)
    return sorted(rows, key=lambda row: (row["stepIndex"], row["stepId"]))


def latest_seen(state: State, form_id: str, step_id: str) -> tuple[int, str | None]:
    """Section 4: "Index and name: those latest seen, ever (a name: the latest that is not
    missing)", from the events `step_view` and `step_complete`."""
    seen = [
        (event.at, event.id, event)
        for event in state.events
        if (event.form_id, event.step_id) == (form_id, step_id)
        and event.type in ("step_view", "step_complete")
    ]
    *_, latest = max(seen)
    named = [entry for entry in seen if entry[2].step_name]
    return latest.step_index or 0, max(named)[2].step_name if named else None


@answers("/v1/forms/{id}/time-to-complete")
def time_to_complete(state: State, question: Question) -> Any:
    """8: one row per device type with completions, after `all`; "Order after `all`: completions
    descending, then name; without completions `[]`". Percentiles, min and max are the exact ones;
    `buckets` is left to the comparison."""
    completed = state.reached(state.of_form(question.form_id), "complete", question)
    if not completed:
        return []
    rows = []
    for device in {session.device for session in completed}:
        spans = [span_ms(session) for session in completed if session.device == device]
        rows.append({"deviceType": device, **distribution(spans)})
    rows.sort(key=lambda row: (-row["completions"], row["deviceType"]))
    return [{"deviceType": "all", **distribution([span_ms(s) for s in completed])}, *rows]


def span_ms(session: Session) -> Fraction:
    """Section 4: "From the first `start` (where none, the first `view`; where neither, the first
    event) to the first `complete`"; "a negative span is 0"."""
    times = session.milestones
    begun = times.get("start") or times.get("view") or session.first_at
    return Fraction(max(times["complete"] - begun, timedelta()) // timedelta(microseconds=1), 1000)


def distribution(spans: list[Fraction]) -> dict[str, Any]:
    """The figures of some spans; percentiles are nearest-rank. All are "rounded half-up to 3
    decimals (whole microseconds)"."""
    ordered = sorted(spans)
    ranks = {f"p{p}Ms": -(-p * len(ordered) // 100) for p in PERCENTILES}
    return {
        "completions": len(ordered),
        "averageMs": divide(sum(ordered), len(ordered), 3),
        "minMs": float(ordered[0]),
        **{name: float(ordered[rank - 1]) for name, rank in ranks.items()},
        "maxMs": float(ordered[-1]),
    }
