"""The submissions by which an order could be credited, and why it is credited to one (21; contract 3).

They are found by the indexes of facts: those of the order's customer, of its visitor, and those that were
issued a code that it used.
"""

from typing import Any, Final

from sqlalchemy import Select, and_, func, select

from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND, iso_millis
from warehouse.domain.vocabulary import ATTRIBUTION_TYPES, UNATTRIBUTED
from warehouse.tables import fact_code_issued, fact_form_session, fact_order_code
from web.api.equal_age import window_days
from web.api.query import Query
from web.api.rows import Row, column, text

# The most submissions that the story of an order names.
MOST_CANDIDATES: Final = 100
_MATCHES: Final = ATTRIBUTION_TYPES[:UNATTRIBUTED]
_BECAUSE: Final = ("chosen", "outside_window", "weaker_match", "earlier", "tie")

# fmt: off
SECONDS: Final = {"type": "integer", "minimum": 0}
CANDIDATE: Final = Row(
    "Candidate",
    "A submission by which an order could be credited.",
    text("formId", "Form", "The form's id."),
    text("formName", "Name", "The form's name; null if the shop's forms do not include it.", null=True),
    text("submittedAt", "Submitted", "When the form was submitted.", format="date-time"),
    column("secondsToOrder", "Seconds to order", "Whole seconds from the submission to the order.", SECONDS),
    column("matches", "Matches", "What the submission and the order have in common.",
        {"type": "array", "items": {"type": "string", "enum": list(_MATCHES)}}),
    column("chosen", "Chosen", "Whether the order is credited to it.", {"type": "boolean"}),
    text("because", "Because",
        "`chosen`. `outside_window`: it is older than the attribution window. `weaker_match`: the chosen "
        "one matches by a stronger type, or for a code is of a nearer person. `earlier`: the chosen one is "
        "later. `tie`: both are of one instant, and a fixed rule decides.",
        enum=list(_BECAUSE)),
)
# fmt: on
_session = fact_form_session.c


def candidates(query: Query, order: Any) -> list[dict[str, Any]]:
    """The rows of an order (a row of `fact_order`): the chosen submission first, then the latest first."""
    window = window_days(query.shop) * MICROS_PER_DAY
    edition = query.shop.edition
    span = order.created_at - 2 * window, order.created_at
    used, issued = fact_order_code.c, fact_code_issued.c
    codes = list(
        query.connection.scalars(
            select(used.code).where(
                used.edition == edition, used.order == order.order, used.code != 0
            )
        )
    )
    columns = _session.session, _session.form, _session.form_session_id, _session.submitted_at
    submissions = (
        select(*columns, _session.customer, _session.visitor)
        .where(
            _session.edition == edition,
            _session.submitted_at.between(*span),
        )
        .order_by(_session.submitted_at.desc(), _session.form_session_id.desc())
        .limit(MOST_CANDIDATES)
    )
    given = and_(issued.edition == edition, issued.code.in_(codes))
    asked = [
        submissions.where(column != 0, column == value)
        for column, value in (
            (_session.customer, order.customer),
            (_session.visitor, order.visitor),
        )
        if value
    ]
    asked += [
        submissions.where(_session.session.in_(_last_issued(edition, code, span))) for code in codes
    ]
    if order.session:
        asked.append(submissions.where(_session.session == order.session))
    found = {one.session: one for each in asked for one in query.connection.execute(each)}
    with_code = (
        set(
            query.connection.scalars(select(issued.session).where(given, issued.session.in_(found)))
        )
        if codes and found
        else set()
    )
    forms = query.texts({one.form for one in found.values()})
    names = query.form_names(list(forms.values()))
    chosen = found.get(order.session)
    ordered = sorted(found.values(), key=lambda one: forms[one.form])
    ordered.sort(key=lambda one: (one.submitted_at, one.form_session_id), reverse=True)
    ordered.sort(key=lambda one: one is not chosen)

    def matches(one: Any) -> tuple[bool, ...]:
        same_customer = order.customer != 0 and one.customer == order.customer
        return (
            one.session in with_code,
            same_customer,
            order.visitor != 0 and one.visitor == order.visitor,
        )

    def because(one: Any) -> str:
        if one is chosen:
            return "chosen"
        if chosen is None or order.created_at - one.submitted_at > window:
            return "outside_window"
        if strength(matches(one)) > strength(matches(chosen)):
            return "weaker_match"
        return "earlier" if one.submitted_at < chosen.submitted_at else "tie"

    return [
        CANDIDATE.filled(
            (
                forms[one.form],
                names.get(forms[one.form]),
                iso_millis(one.submitted_at),
                seconds_to_order(one.submitted_at, order.created_at),
                [name for name, holds in zip(_MATCHES, matches(one), strict=True) if holds],
                one is chosen,
                because(one),
            ),
            {},
        )
        for one in ordered[:MOST_CANDIDATES]
    ]


def _last_issued(edition: int, code: int, span: tuple[int, int]) -> Select[Any]:
    """The last submissions of a span that were issued a code, as many as a story names, and all that tie with
    the first of these: thousands may share one code."""
    issued = fact_code_issued.c
    own = issued.edition == edition, issued.code == code
    last = (
        select(issued.session, issued.submitted_at)
        .where(*own, issued.submitted_at.between(*span))
        .distinct()
        .order_by(issued.submitted_at.desc())
        .limit(MOST_CANDIDATES)
        .subquery()
    )
    earliest = select(func.min(last.c.submitted_at)).scalar_subquery()
    return select(issued.session).where(*own, issued.submitted_at.between(earliest, span[1]))


def strength(matches: tuple[bool, ...]) -> int:
    """The rank of a match, the strongest first (contract 3): a code of the same customer, of the same
    visitor, of anybody; the customer; the visitor."""
    by_code, by_customer, by_visitor = matches
    if by_code:
        return 0 if by_customer else 1 if by_visitor else 2
    return 3 if by_customer else 4


def seconds_to_order(submitted_at: int, created_at: int) -> int:
    """Whole seconds from a submission to an order that came after it."""
    return (created_at - submitted_at) // MICROS_PER_SECOND
