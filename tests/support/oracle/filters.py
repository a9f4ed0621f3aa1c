"""Filters: contract section 4, "Filters"."""

from tests.support.oracle.records import UTM
from tests.support.oracle.sessions import Session
from tests.support.oracle.state import State

FILTERED = (
    "/v1/forms/funnel",
    *(
        f"/v1/forms/{{id}}/{name}"
        for name in (
            *("funnel", "steps/dropoff", "time-to-complete", "devices", "visitor-conversion"),
            *("response-revenue", "trends", "time-to-order"),
        )
    ),
    "/v1/revenue/by-form",
)
"""The endpoints 3, 6 to 10, 12, 13, 25 and 26. (20 has its own: `answers_orders.py`.)"""
FILTERS = ("device", "visitor", *UTM[:5], "variant")


def text(value: str) -> str:
    """ "`(none)` for the empty value"."""
    return "" if value == "(none)" else value


def of_session(state: State, session: Session, params: dict[str, str]) -> bool:
    """Whether a session has what the filters that are no UTM ask for."""
    is_new = session in state.new_sessions
    has = {
        "device": session.device,
        "visitor": "new" if is_new else "returning",
        "variant": session.variant,
    }
    return all(has[name] == text(params[name]) for name in has if name in params)


def filtered(state: State, params: dict[str, str]) -> State:
    """ "What it would be if the shop had only these sessions, credited as they are"."""
    utm = {name: text(params[name]) for name in UTM[:5] if name in params}
    sessions = [
        session
        for session in state.sessions
        if of_session(state, session, params)
        and all(session.utm[UTM.index(name)] == value for name, value in utm.items())
    ]
    return state.with_only(sessions)
