"""Editions whose days were made by an earlier version of the rules of time zones (`editions/zone_rules.py`).

Where the later rules leave every instant of a shop on its day, its edition is theirs from now on. The others
are outdated, and built anew.
"""

from collections.abc import Generator
from contextlib import closing
from functools import partial
from itertools import groupby
from typing import Final
from zoneinfo import ZoneInfo

from jobs.arrays.group_keys import Column
from jobs.facts import kept_facts
from jobs.facts.calendar import local_days
from jobs.pipeline.plan import check_held, while_held
from jobs.run.job_run import JobRun
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import zone
from warehouse.editions import editions, zone_rules
from warehouse.editions.editions import Edition
from warehouse.editions.leases import Claim

# Instants that are in memory together; two parts are.
_PART_ROWS: Final = 500_000


def take_over(run: JobRun) -> None:
    """Put our rules in force, and adopt the editions whose days they leave as they are. Raises OlderRules.
    Commits."""
    connection = run.connection
    zone_rules.require_latest(connection)
    behind = editions.editions_of_other_rules(connection)
    connection.commit()
    if behind:
        zone_rules.record(connection, [edition.shop_key for edition in behind])
        connection.commit()

    for (version, timezone), some in groupby(sorted(behind, key=_rules), _rules):
        own = list(some)
        before = zone_rules.recorded(connection, version, timezone)
        connection.commit()
        if before is None:
            # Nothing tells which days it has, but where no rules ever changed.
            if timezone == "UTC":
                editions.adopt(connection, [edition.edition for edition in own])
        elif before is zone(timezone):
            editions.adopt(connection, [edition.edition for edition in own])
        else:
            while_held(run, own, partial(_adopt_unmoved, run, before))


def _rules(edition: Edition) -> tuple[str, str]:
    return edition.zone_version, edition.timezone


def _adopt_unmoved(run: JobRun, before: ZoneInfo, held: Claim) -> None:
    """Adopt those of which no instant is on another day by our rules."""
    unmoved = []
    for edition in held.editions:
        after = zone(edition.timezone)
        with closing(_instants(run.connection, edition.shop_key)) as parts:
            if all((local_days(part, before) == local_days(part, after)).all() for part in parts):
                unmoved.append(edition.edition)
    check_held(run.connection, held)
    editions.adopt(run.connection, unmoved)


def _instants(connection: ArrowConnection, shop_key: int) -> Generator[Column]:
    """The instants of a shop's events and orders, in parts; of kept facts the quarters of an hour."""
    for table, at in ((tables.raw_event, "occurred_at"), (tables.raw_order, "created_at")):
        sql = f"SELECT {at} FROM {table.name} WHERE shop_key = {shop_key}"
        with closing(connection.parts_of(table, sql, _PART_ROWS)) as parts:
            for part in parts:
                yield part[at].to_numpy()
    for kept in kept_facts.read(connection, [shop_key]):
        yield kept.facts.instants["at"].to_numpy()
