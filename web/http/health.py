"""For monitors: `/healthz`, the process answers; `/readyz`, it can answer requests. Neither needs a key.

Both are answered within a second, whatever the warehouse does: `/healthz` does not ask it, and `/readyz`
asks with a `Probe`.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import orjson
from flask import Blueprint, Response
from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from warehouse.connections.errors import Unavailable, is_damaged
from warehouse.domain.time import MICROS_PER_SECOND, iso_millis
from warehouse.editions.failed_batches import FROM_SET_ASIDE
from warehouse.migrations.migrate import is_current
from warehouse.tables import (
    DAILY,
    DIMENSIONS,
    ad_account,
    ad_spend,
    api_key,
    edition,
    exchange_rate,
    form,
    form_creation,
    member,
    shop,
    sign_in,
)
from web.db.database import Database
from web.db.operator_needs import count_needs
from web.db.probe import Probe
from web.http.errors import CODES, RETRY_SOON, Refusal
from web.http.request_id import request_id
from web.http.request_log import log_failure
from web.http.state import services, state

blueprint = Blueprint("health", __name__)

# The last rollup of any shop.
_ROLLED_UP_AT = select(func.max(edition.c.rolled_up_at)).where(
    edition.c.edition.in_(select(shop.c.edition))
)

# A row of each table that requests read, where it has one. The last column is in no index, so that a
# page of the table itself is read: SQLite's file may be damaged there.
_A_ROW_OF_EACH = select(
    *(
        select(list(table.c)[-1]).limit(1).scalar_subquery()
        for table in (
            *DAILY.values(),
            *DIMENSIONS,
            *(ad_account, ad_spend, api_key, exchange_rate, form, form_creation, member, sign_in),
        )
    )
)

# Batches that could not be rolled up and are no longer retried by the schedule: shops, batches.
_SET_ASIDE = text(f"SELECT COUNT(DISTINCT e.shop_key), COUNT(*) {FROM_SET_ASIDE}")


_DAMAGED: Final = "The file of the warehouse is damaged. Restore the latest backup."


class Readiness(NamedTuple):
    """The instant of the last rollup (None before it), shops and batches that are set aside, and whether
    the schema is this program's."""

    rolled_up_at: int | None
    shops: int
    batches: int
    is_current: bool


@blueprint.get("/healthz", provide_automatic_options=False)
def healthz() -> Response:
    """200 as long as the process takes requests."""
    return _json({"status": "ok"})


@blueprint.get("/readyz", provide_automatic_options=False)
def readyz() -> Response:
    """200 with the age of the last rollup in seconds (null before the first one), and the number of shops
    and batches that are set aside. 503 while the warehouse or its read replica does not answer, is damaged,
    or has another schema than this program; the message says which of the two.

    With a replica, all of it is as the replica has it, since figures are read there; but `needs` is from the
    warehouse itself. It has the number of findings of each condition that needs an operator, {} where there
    is none, null where counting takes too long. They are no reason for a 503: requests are answered. They are
    only counted, because anyone may call this; `python -m jobs status` names them.
    """
    # All are asked at once, so that they are also answered within a second.
    counted = services().operator_needs.begin()
    begun = {name: probe.begin() for name, probe in services().readiness.items()}
    answers = [_answer(name, answer) for name, answer in begun.items()]
    problems = [answer for answer in answers if isinstance(answer, str)]
    if problems:
        raise Refusal(503, CODES[503], " ".join(problems), RETRY_SOON)
    of_figures = answers[-1]
    assert not isinstance(of_figures, str)
    rolled_up_at, shops, batches, _ = of_figures
    age = state().now - rolled_up_at if rolled_up_at else None
    return _json(
        {
            "status": "ready",
            "lastRollupAt": iso_millis(rolled_up_at) if rolled_up_at else None,
            "lastRollupAgeSeconds": max(age, 0) // MICROS_PER_SECOND if age is not None else None,
            "setAside": {"shops": shops, "batches": batches},
            "needs": _needs(counted),
        }
    )


def probes(database: Database) -> dict[str, Probe[Readiness]]:
    """A probe of each server, by what people call it; the last one is that which figures are read from."""
    kinds = {"warehouse": database.read}
    if database.has_replica:
        kinds["read replica"] = database.read_figures
    return {name: Probe(partial(_readiness, read)) for name, read in kinds.items()}


def needs_probe(database: Database, clock: Callable[[], int]) -> Probe[dict[str, int]]:
    """A probe that counts what needs an operator."""

    def count() -> dict[str, int]:
        with database.read() as connection:
            return count_needs(connection, clock())

    return Probe(count)


def _needs(counted: Callable[[], dict[str, int]]) -> dict[str, int] | None:
    try:
        return {condition: number for condition, number in counted().items() if number}
    except (SQLAlchemyError, TimeoutError, Unavailable):
        return None


def _answer(name: str, answer: Callable[[], Readiness]) -> Readiness | str:
    """The answer of a server, or a sentence that says what is wrong with it."""
    try:
        readiness = answer()
    except Unavailable as error:
        return str(error)
    except (SQLAlchemyError, TimeoutError) as error:
        log_failure(request_id(), error)
        return _DAMAGED if is_damaged(error) else f"The {name} does not answer."
    if not readiness.is_current:
        return f"The {name} is not migrated to this program's schema."
    return readiness


def _readiness(read: Callable[[], Connection]) -> Readiness:
    """Asks a server. Raises SQLAlchemyError where it does not answer."""
    with read() as connection:
        rolled_up_at = connection.execute(_ROLLED_UP_AT).scalar()
        connection.execute(_A_ROW_OF_EACH)
        shops, batches = connection.execute(_SET_ASIDE).one()
        return Readiness(rolled_up_at, shops, batches, is_current(connection))


def _json(body: dict[str, object]) -> Response:
    return Response(orjson.dumps(body), mimetype="application/json")
