"""`/healthz`: the process answers. `/readyz`: it can answer requests. Neither takes a key."""

import orjson
from flask import Blueprint, Response, current_app
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from warehouse.days import MICROS_PER_SECOND, NEVER, iso_millis
from warehouse.migrate import is_current
from warehouse.schema import api_key, edition, failed_batch, form, shop
from web.errors import CODES, MESSAGES, Refusal
from web.logs import log_failure
from web.request_id import request_id

blueprint = Blueprint("health", __name__)

# The last rollup of any shop; asked together with the tables that every request needs.
_READY = select(
    select(func.max(edition.c.rolled_up_at))
    .where(edition.c.edition.in_(select(shop.c.edition)))
    .scalar_subquery(),
    select(func.max(form.c.shop_key)).scalar_subquery(),
    select(func.max(api_key.c.shop_key)).scalar_subquery(),
)

# Raw rows that could not be rolled up, and wait for a person.
_SET_ASIDE = (
    select(func.count(func.distinct(edition.c.shop_key)), func.count())
    .join_from(failed_batch, edition, edition.c.edition == failed_batch.c.edition)
    .where(failed_batch.c.retry_at == NEVER)
)


@blueprint.get("/healthz", provide_automatic_options=False)
def healthz() -> Response:
    """200 as long as the process takes requests."""
    return _json({"status": "ok"})


@blueprint.get("/readyz", provide_automatic_options=False)
def readyz() -> Response:
    """200 with the age of the last rollup in whole seconds (null before the first one), and how many
    shops and batches are set aside; 503 while the warehouse does not answer, or is not migrated to
    the schema of this program.

    What is set aside is a warning, not a 503: all else is answered. It is counted and not named,
    since nobody needs a key to ask; `python -m jobs status` names it.
    """
    try:
        with current_app.extensions["database"].read() as connection:
            rolled_up_at = connection.execute(_READY).one()[0]
            shops, batches = connection.execute(_SET_ASIDE).one()
            current = is_current(connection)
    except SQLAlchemyError as error:
        log_failure(request_id(), error)
        raise Refusal(503, CODES[503], MESSAGES[503]) from None
    if not current:
        raise Refusal(503, CODES[503], "The warehouse is not migrated to this program's schema.")
    age = current_app.extensions["clock"]() - rolled_up_at if rolled_up_at else None
    return _json(
        {
            "status": "ready",
            "lastRollupAt": iso_millis(rolled_up_at) if rolled_up_at else None,
            "lastRollupAgeSeconds": max(age, 0) // MICROS_PER_SECOND if age is not None else None,
            "setAside": {"shops": shops, "batches": batches},
        }
    )


def _json(body: dict[str, object]) -> Response:
    return Response(orjson.dumps(body), mimetype="application/json")
