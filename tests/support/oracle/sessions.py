"""Form sessions and their milestones: contract section 1 and section 2, events."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from tests.support.oracle.records import Answer, Event


@dataclass(frozen=True)
class Step:
    """A step that a session viewed."""

    viewed_at: datetime
    index: int
    """The index that the first view carried."""
    completed: bool


@dataclass(frozen=True, eq=False)
class Session:
    """One showing of one form to one visitor."""

    form_id: str
    id: str
    first_at: datetime
    instants: tuple[datetime, ...]
    """Those of its events."""
    milestones: dict[str, datetime]
    """`view`, `start`, `subscribe`, `complete` -> the first time, where there was one."""
    submitted_at: datetime | None
    visitor: str
    device: str
    utm: tuple[str, ...]
    variant: str
    customer: str | None
    email: str | None
    steps: dict[str, Step]
    answers: dict[str, Answer]
    codes: frozenset[str]
    discount_ids: frozenset[str]
    """Discounts issued by id alone; those that came with a code are found through the code."""


def sessions_of(events: Iterable[Event]) -> list[Session]:
    """Section 1: "all events of the shop with the same `form_id` and `form_session_id`", one
    Session each."""
    groups: dict[tuple[str, str], list[Event]] = {}
    for event in events:
        groups.setdefault((event.form_id, event.session_id), []).append(event)
    return [session_of(sorted(group, key=lambda e: (e.at, e.id))) for group in groups.values()]


def session_of(events: list[Event]) -> Session:
    """A session from its events, which are sorted by time, then `event_id`.

    So the first in the list is "the earliest event (ties: the smaller `event_id`)", and the last
    is "the latest event (ties: the greater `event_id`)".
    """
    milestones: dict[str, datetime] = {}
    for event in events:
        if event.type in ("view", "start", "subscribe", "complete"):
            milestones.setdefault(event.type, event.at)
    reached = [milestones[name] for name in ("subscribe", "complete") if name in milestones]
    devices = [event.device for event in events if event.device]
    utms = [event.utm for event in events if any(event.utm)]
    customers = [event.customer for event in events if event.customer]
    emails = [event.email for event in events if event.email]
    return Session(
        form_id=events[0].form_id,
        id=events[0].session_id,
        first_at=events[0].at,
        instants=tuple(event.at for event in events),
        milestones=milestones,
        submitted_at=min(reached, default=None),
        visitor=events[0].visitor,
        device=devices[0] if devices else "other",
        utm=utms[0] if utms else ("",) * 6,
        variant=next((event.variant for event in events if event.variant), ""),
        customer=customers[-1] if customers else None,
        email=emails[-1] if emails else None,
        steps=steps_of(events),
        answers=first_questions({e.field_id: e.answer for e in events if e.field_id and e.answer}),
        codes=frozenset(e.code for e in events if e.code),
        discount_ids=frozenset(e.discount_id for e in events if e.discount_id and not e.code),
    )


def first_questions(answers: dict[str, Answer]) -> dict[str, Answer]:
    """Section 2: "of a form session the first 199 questions count, by code point of their ids"."""
    return {field: answers[field] for field in sorted(answers)[:199]}


def steps_of(events: list[Event]) -> dict[str, Step]:
    """The steps that were viewed; a completion without a view counts nowhere."""
    viewed: dict[str, list[Event]] = {}
    completed = {event.step_id for event in events if event.type == "step_complete"}
    for event in events:
        if event.type == "step_view" and event.step_id:
            viewed.setdefault(event.step_id, []).append(event)
    steps = {}
    for step_id, views in viewed.items():
        first = min(view.at for view in views)
        index = max(view.step_index or 0 for view in views if view.at == first)
        steps[step_id] = Step(first, index, step_id in completed)
    return steps


def dropped_off_at(session: Session) -> str | None:
    """Section 4 (7): "at the step it viewed last (latest first view; ties: the greater index)
    when it neither completed that step nor the form"."""
    if not session.steps or "complete" in session.milestones:
        return None
    _, _, last = max((step.viewed_at, step.index, id) for id, step in session.steps.items())
    return None if session.steps[last].completed else last


def new_sessions(sessions: Iterable[Session]) -> set[Session]:
    """Section 4 (10): "the visitor's first with this form (earliest event; ties: the smaller
    `form_session_id`)"."""
    first: dict[tuple[str, str], Session] = {}
    for session in sessions:
        other = first.setdefault((session.form_id, session.visitor), session)
        if (session.first_at, session.id) < (other.first_at, other.id):
            first[session.form_id, session.visitor] = session
    return set(first.values())
