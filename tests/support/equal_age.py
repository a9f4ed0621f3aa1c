"""Outcomes at any age as they are stored, by all that they are stored by, held to the oracle's."""

from collections.abc import Iterable, Iterator
from datetime import date

import sqlalchemy as sa

from tests.support.oracle import Oracle
from tests.support.oracle.records import UTM, Row
from tests.support.oracle.sessions import Session
from tests.support.oracle.state import Question, State
from tests.support.oracle.times import resolve_range
from tests.support.oracle.values import money
from tests.support.product import Product
from tests.support.worlds import World
from warehouse.connections.engine import open_engine
from warehouse.daily.reader import DailyRows
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import day_number
from warehouse.domain.vocabulary import DEVICES, VISITOR_LEVELS, VISITOR_TYPES, visitor_kind
from warehouse.tables import dim_utm, shop

WITHIN = (None, 1, 2, 5, 6, 30, 31)
MEASURES = ("submissions", "converted", "orders", "gross", "refunded")

Key = tuple[object, ...]
Outcomes = dict[Key, tuple[int, ...]]


def wrong_outcomes(product: Product, given: World, records: dict[str, list[Row]]) -> list[str]:
    """Where the stored outcomes of a world are not those that the oracle computes from these records."""
    product.close()
    oracle, found = Oracle(records), []
    engine = open_engine(product.url)
    with engine.connect() as connection:
        for shop_id in given.casts:
            state, today = oracle.state(shop_id), oracle.today(shop_id, given.now)
            edition = connection.scalar(sa.select(shop.c.edition).where(shop.c.shop_id == shop_id))
            for text in (given.ranges(shop_id)[2], given.ranges(shop_id)[-1]):
                first, last = resolve_range(text, today)
                asked = Question(first, last, today, given.now, {})
                for within in WITHIN:
                    ours = _stored(connection, edition or 0, first, last, within, state)
                    theirs = _expected(state, asked, within)
                    found += [
                        f"{shop_id} {text} within {within}: {key}: expected {theirs.get(key)}, "
                        f"got {ours.get(key)}"
                        for key in ours.keys() | theirs.keys()
                        if ours.get(key) != theirs.get(key)
                    ]
    engine.dispose()
    return found


def _expected(state: State, asked: Question, within: int | None) -> Outcomes:
    groups: dict[Key, list[Session]] = {}
    visitors: dict[Key, set[str]] = {}
    for session in state.submitted(state.sessions, asked):
        for key in _keys(state, session):
            groups.setdefault(key, []).append(session)
        types = ("all", "new" if session in state.new_sessions else "returning")
        if state.converted([session], within):
            for name in types:
                key = "purchasers", text_id(session.form_id), name
                visitors.setdefault(key, set()).add(session.visitor)
    outcomes: Outcomes = {key: (len(names),) for key, names in visitors.items()}
    for key, sessions in groups.items():
        of = money(state.outcome(sessions, within))
        revenue = of["orders"], of["grossRevenueCents"], of["totalRefundedCents"]
        outcomes[key] = len(sessions), len(state.converted(sessions, within)), *revenue
    return outcomes


def _keys(state: State, session: Session) -> Iterator[Key]:
    """All that the outcome of a submission is counted under."""
    form = text_id(session.form_id)
    assert session.submitted_at
    yield "funnel", form, day_number(state.day(session.submitted_at))
    yield "device", form, session.device
    yield "utm_submission", *session.utm
    for field, answer in session.answers.items():
        yield "response", form, text_id(field), 0
        for value in answer.values or ():
            yield "response", form, text_id(field), text_id(value)


def _stored(
    connection: sa.Connection,
    edition: int,
    first: date,
    last: date,
    within: int | None,
    state: State,
) -> Outcomes:
    rows = DailyRows(connection, edition, day_number(first), day_number(last))
    stored: Outcomes = {}

    def read(name: str, *by: str) -> Iterable[tuple[Key, tuple[int, ...]]]:
        sums = rows.outcomes(name, within=within, by=by)
        for row in sums.rows():
            measures = tuple(row[measure] for measure in MEASURES)
            if any(measures):
                yield tuple(row[dim] for dim in by), measures

    for (form, day), measures in read("funnel", "form", "day"):
        stored["funnel", form, day] = measures
    for (form, device), measures in read("device", "form", "device"):
        stored["device", form, DEVICES[int(str(device))]] = measures
    for key, measures in read("response", "form", "field", "value"):
        stored["response", *key] = measures
    texts = {
        row.utm: tuple(getattr(row, name) for name in UTM)
        for row in connection.execute(sa.select(dim_utm).where(dim_utm.c.edition == edition))
    }
    for (utm,), measures in read("utm_submission", "utm"):
        stored["utm_submission", *texts.get(utm, ("",) * len(UTM))] = measures
    level = VISITOR_LEVELS.index("purchasers")
    for form in {text_id(session.form_id) for session in state.sessions}:
        counts = rows.visitors(form, within=within)
        for index, name in enumerate(VISITOR_TYPES):
            if counts.get(visitor_kind(index, level)):
                stored["purchasers", form, name] = (counts[visitor_kind(index, level)],)
    return stored
