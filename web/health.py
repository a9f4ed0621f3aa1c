"""`/healthz`: the process answers. `/readyz`: it can answer requests. Neither takes a key."""

import orjson
from flask import Blueprint, Response, current_app
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from warehouse.days import MICROS_PER_SECOND, iso_millis
from warehouse.tables import api_key, edition, form, shop
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


@blueprint.get("/healthz", provide_automatic_options=False)
def healthz() -> Response:
    """200 as long as the process takes requests."""
    return _json({"status": "ok"})


@blueprint.get("/readyz", provide_automatic_options=False)
def readyz() -> Response:
    """200 with the age of the last rollup in whole seconds (null before the first one); 503 while
    the warehouse does not answer or has not been migrated."""
    try:
        with current_app.extensions["database"].read() as connection:
            rolled_up_at = connection.execute(_READY).one()[0]
    except SQLAlchemyError as error:
        log_failure(request_id(), error)
        raise Refusal(503, CODES[503], MESSAGES[503]) from None
    if not rolled_up_at:
        return _json({"status": "ready", "lastRollupAt": None, "lastRollupAgeSeconds": None})
    age = current_app.extensions["clock"]() - rolled_up_at
    return _json(
        {
            "status": "ready",
            "lastRollupAt": iso_millis(rolled_up_at),
            "lastRollupAgeSeconds": max(age, 0) // MICROS_PER_SECOND,
        }
    )


def _json(body: dict[str, object]) -> Response:
    return Response(orjson.dumps(body), mimetype="application/json")
