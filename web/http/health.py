"""Addresses for monitors: `/healthz` says that the process answers, `/readyz` that it can answer requests.
Neither needs a key.

Both are answered within a second, whatever the warehouse does: `/healthz` does not ask it, and `/readyz`
asks with a `Probe`.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

import orjson
from flask import Flask, Response
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import SQLAlchemyError

from warehouse import VERSION
from warehouse.connections.errors import Unavailable, is_damaged
from warehouse.domain.time import MICROS_PER_SECOND, iso_millis
from warehouse.migrations.migrate import is_current
from warehouse.operations import conditions
from warehouse.settings import REFRESH_MINUTES
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
from web.db.database import Database, query_of
from web.db.probe import Probe, settle
from web.http.current_request import request_id
from web.http.errors import CODES, RETRY_SOON, Refusal
from web.http.request_log import log_failure

PATHS: Final = ("/healthz", "/readyz")

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

_DAMAGED: Final = "The file of the warehouse is damaged. Restore the latest backup."


class Health:
    """The two addresses of one process. `clock` gives the present instant in microseconds."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._clock = clock
        # Servers by their names for people; figures are read from the last one.
        servers = {"warehouse": database.read}
        if database.has_replica:
            servers["read replica"] = database.read_figures
        self._servers = {name: Probe(partial(_ask, name, read)) for name, read in servers.items()}

        def count() -> dict[str, int]:
            with database.read() as connection:
                return count_needs(connection, clock())

        self._needs = Probe(count)

    def register(self, app: Flask) -> None:
        for path, answer in zip(PATHS, (self.healthz, self.readyz), strict=True):
            app.add_url_rule(path, path, answer)

    def look(self) -> None:
        """Begin to look for what needs an operator, before anybody asks: it may take seconds."""
        self._needs.begin()

    def settle(self) -> None:
        """Wait for what is still being asked, so that its connections are back."""
        settle([*self._servers.values(), self._needs])

    def healthz(self) -> Response:
        """Answer 200 as long as the process takes requests."""
        return _json({"status": "ok"})

    def readyz(self) -> Response:
        """Answer 200 with this program's version and the age of the last rollup in seconds (null before the
        first one), 503 while the warehouse or its read replica does not answer, is damaged, or has another
        schema than this program; the message says which of the two.

        With a replica, all of it is as the replica has it, since figures are read there; but `needs` is from
        the warehouse itself. It has the conditions that need an operator: where looking for them takes too
        long, those that were found last; null before this process has found any or none. They are no reason
        for a 503: requests are answered. Neither numbers nor names are in it, because anyone may call this:
        the command `status` names the findings, and the metrics count them.
        """
        # All are asked at once, so that they are also answered within a second.
        needs = self._needs.begin()
        asked = {name: probe.begin() for name, probe in self._servers.items()}
        rolled_up_at, problems = 0, []
        for name, answer in asked.items():
            try:
                rolled_up_at = answer()
            except Unavailable as error:
                problems.append(str(error))
            except (SQLAlchemyError, TimeoutError) as error:
                log_failure(request_id(), error)
                problems.append(_DAMAGED if is_damaged(error) else f"The {name} does not answer.")
        if problems:
            raise Refusal(503, CODES[503], " ".join(problems), RETRY_SOON)
        found = self._needs.last
        with suppress(SQLAlchemyError, TimeoutError, Unavailable):
            found = needs()
        age = max(self._clock() - rolled_up_at, 0) // MICROS_PER_SECOND
        return _json(
            {
                "status": "ready",
                "version": VERSION,
                "lastRollupAt": iso_millis(rolled_up_at) if rolled_up_at else None,
                "lastRollupAgeSeconds": age if rolled_up_at else None,
                "needs": None
                if found is None
                else sorted(name for name, number in found.items() if number),
            }
        )


def count_needs(connection: Connection, now: int) -> dict[str, int]:
    """The number of alerts of each condition that needs an operator."""
    return conditions.counts(conditions.find(query_of(connection), now, REFRESH_MINUTES.get()))


def _ask(name: str, read: Callable[[], Connection]) -> int:
    """The instant of the last rollup, 0 before it. Raises SQLAlchemyError where the server does not answer,
    and Unavailable where it has another schema than this program."""
    with read() as connection:
        rolled_up_at = connection.execute(_ROLLED_UP_AT).scalar()
        connection.execute(_A_ROW_OF_EACH)
        if not is_current(connection):
            raise Unavailable(f"The {name} is not migrated to this program's schema.")
        return rolled_up_at or 0


def _json(body: dict[str, object]) -> Response:
    return Response(orjson.dumps(body), mimetype="application/json")
