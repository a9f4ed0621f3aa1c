"""A person is forgotten: the raw rows and kept facts that carry an identifier of the person go, and figures
are built anew without them (`removal.py`). Orders may stay, without any identifier: the shop's revenue is
then what it was.

The identifier is remembered under its keyed hash first, so that no import brings the person back. Each step
can be repeated: a run that was killed is ended by the next one.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pandas as pd
import pyarrow as pa
from sqlalchemy import Table

from jobs.facts import kept_facts
from jobs.importing.kinds.order_versions import without_person
from jobs.importing.kinds.seen_forms import take_back_removed
from jobs.importing.rejects import pages
from jobs.pipeline.removal import GroupMask, RawRows, remove_kept_facts, remove_rows
from jobs.run.console import say
from jobs.run.job_run import JobRun, phase
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.domain.time import now_micros
from warehouse.editions import editions, leases
from warehouse.editions.pending_batches import sql_list
from warehouse.operations import tasks
from warehouse.operations.tasks import Task
from warehouse.persons import forgotten
from warehouse.persons.forgotten import COLUMNS, EMAIL, Identifier
from warehouse.persons.hash_secret import email_hasher

# The shop of a reject whose shop is not known.
_NO_SHOP: Final = 0
_TABLES: Final = (tables.raw_event, tables.raw_order)


@dataclass(frozen=True)
class PersonRows:
    """The raw rows that carry an identifier of a person, and those of which facts are kept.

    - `events`, `orders` (versions of orders): how many there are
    - `others`: the other identifiers on these rows, each with the other rows that carry it
    """

    events: int
    orders: int
    others: dict[Identifier, int]


def look_up(
    connection: ArrowConnection, shop_key: int, person: Collection[Identifier]
) -> PersonRows:
    """The rows that carry one of these identifiers. Commits."""
    return _look_up(connection, shop_key, person, _kept_identifiers(connection, shop_key))


def _look_up(
    connection: ArrowConnection, shop_key: int, person: Collection[Identifier], kept: pd.DataFrame
) -> PersonRows:
    forgotten.stage(connection, person)
    connection.commit()
    is_own = _carries(person)(kept)
    columns = names(tuple(COLUMNS.values()))
    found = [
        connection.rows_of(
            table,
            f"SELECT {columns} FROM {table.name} WHERE shop_key = $1 AND {forgotten.carries(table)}",
            shop_key,
        ).to_pandas()
        for table in _TABLES
    ]
    seen = {
        Identifier(kind, text)
        for rows in (*found, kept[is_own])
        for kind, column in COLUMNS.items()
        for text in rows[column].unique()
        if text
    } - set(person)
    others = Counter(dict.fromkeys(sorted(seen), 0))
    for table in _TABLES:
        others.update(_left(connection, table, shop_key, seen))
    for identifier in seen:
        is_other = kept[COLUMNS[identifier.kind]] == identifier.text
        others[identifier] += int(kept["events"][is_other & ~is_own].sum())
    connection.commit()
    events = len(found[0]) + int(kept["events"][is_own].sum())
    return PersonRows(events, len(found[1]), dict(others))


def _kept_identifiers(connection: ArrowConnection, shop_key: int) -> pd.DataFrame:
    """The identifiers of events of which facts are kept: the columns of COLUMNS, and how many `events`."""
    columns = list(COLUMNS.values())
    texts = dict.fromkeys(columns, pd.Series(dtype="str"))
    parts = [pd.DataFrame({**texts, "events": []})]
    for _, _, kept in kept_facts.read(connection, [shop_key]):
        counts = kept.instants.groupby("group")["events"].sum()
        rows = kept.groups[columns].assign(events=kept.groups["group"].map(counts))
        parts.append(rows.groupby(columns, as_index=False)["events"].sum())
    return pd.concat(parts, ignore_index=True)


def _carries(identifiers: Collection[Identifier]) -> GroupMask:
    """As `forgotten.carries`, of kept facts."""

    def which(rows: pd.DataFrame) -> "pd.Series[bool]":
        mask = pd.Series(False, rows.index)
        for kind, text in identifiers:
            mask |= rows[COLUMNS[kind]] == text
            for column in COLUMNS.values() if kind == EMAIL else ():
                mask |= rows[column].str.contains(text, regex=False)
        return mask

    return which


def _left(
    connection: ArrowConnection, table: Table, shop_key: int, seen: set[Identifier]
) -> Counter[Identifier]:
    """How many rows without a staged identifier carry each of these."""
    left: Counter[Identifier] = Counter()
    for kind, column in COLUMNS.items():
        texts = [identifier.text for identifier in seen if identifier.kind == kind]
        if not texts:
            continue
        staged = connection.stage("staged_others", pa.table({"text": pa.array(texts)}))
        rows = connection.table(
            f"SELECT {column}, COUNT(*) FROM {table.name} WHERE shop_key = $1 "
            f"AND {column} IN (SELECT text FROM {staged}) AND NOT {forgotten.carries(table)} "
            f"GROUP BY {column}",
            shop_key,
        )
        for text, count in zip(*(part.to_pylist() for part in rows.columns), strict=True):
            left[Identifier(kind, text)] += int(count)
    return left


def forget(
    run: JobRun, shop_key: int, person: Collection[Identifier], *, keeps_orders: bool
) -> tuple[PersonRows, Counter[str]]:
    """Remove a person from the raw rows of a shop; `keeps_orders`: the orders stay, without the person.
    Returns the rows that there were, and how many `events` and `rejects` went, these also of no known shop,
    and how many `orders` (versions of orders) went, or stay without the person. Commits.

    The figures follow with the next rollup. Raises Stopped after a signal; what is left then goes when it is
    repeated.
    """
    connection = run.connection
    hasher = email_hasher(connection)
    persons = {forgotten.identifier_hash(hasher, one): one for one in person}
    hashes = dict.fromkeys(persons, keeps_orders)
    forgotten.remember(connection, shop_key, hashes, now_micros())
    kept = _kept_identifiers(connection, shop_key)
    rows = _look_up(connection, shop_key, person, kept)
    return rows, _remove(run, shop_key, persons, hashes, (shop_key, _NO_SHOP), kept)


def forget_asked(run: JobRun, task: Task) -> dict[str, Any] | None:
    """Remove those whom a shop asks to forget on its Data page, and those of a run that was killed, from its
    raw rows: its figures are then built once for all. A shop that another process is at work on waits for the
    next refresh. Raises Stopped after a signal."""
    connection, shop_key = run.connection, task.shop_key
    numbers = [edition.edition for edition in editions.editions_of(connection, [shop_key])]
    if leases.held(connection, numbers, connection.now_micros()):
        tasks.give_back(connection, task)
        return None
    # None is left where a command has done it.
    if hashes := forgotten.waiting(connection, shop_key):
        kept = _kept_identifiers(connection, shop_key)
        # The identifiers that rows or kept facts carry, by hash.
        hasher, own = email_hasher(connection), f"shop_key = {shop_key}"
        found: dict[str, Identifier] = {}
        for table in _TABLES:
            found |= forgotten.find(connection, hasher, table, own, set(hashes))
        for kind, column in COLUMNS.items():
            candidates = forgotten.identifiers_in(kind, kept[column].unique())
            found |= forgotten.of_hashes(hasher, hashes, candidates)
        connection.commit()
        persons = {hashed: found[hashed] for hashed in hashes if hashed in found}
        counts = _remove(run, shop_key, persons, hashes, (shop_key,), kept)
        say(
            f"removed persons: {len(hashes)}  events {counts['events']}  "
            f"versions of orders {counts['orders']}"
        )
    return {}


def _counts(
    connection: ArrowConnection,
    shop_key: int,
    persons: dict[str, Identifier],
    kept: pd.DataFrame,
    keeps_orders: Mapping[str, bool],
) -> dict[str, tuple[int, int]]:
    """How many events and orders of each of these persons go, by hash; a row counts for the first.
    Commits."""
    forgotten.stage(connection, persons.values())
    events, orders = (forgotten.carried_rows(connection, table, shop_key) for table in _TABLES)
    connection.commit()
    for person in persons.values():
        is_own = _carries([person])(kept)
        events[person] += int(kept["events"][is_own].sum())
        kept = kept[~is_own]
    return {
        hashed: (events[person], 0 if keeps_orders[hashed] else orders[person])
        for hashed, person in persons.items()
    }


def _remove(
    run: JobRun,
    shop_key: int,
    persons: dict[str, Identifier],
    hashes: Mapping[str, bool],
    reject_shops: tuple[int, ...],
    kept: pd.DataFrame,
) -> Counter[str]:
    """Remove the rows of a shop that carry one of these identifiers (by hash), or of orders the identifiers
    alone, and the rejects of `reject_shops` that name one with one of these hashes; record how many rows
    these were. `hashes`: whether the orders stay; `kept`: the identifiers in kept facts. Commits."""
    connection = run.connection
    removed = dict.fromkeys(hashes, (0, 0)) | _counts(connection, shop_key, persons, kept, hashes)
    counts = Counter[str]()
    events, orders = (forgotten.carries(table) for table in _TABLES)
    for stay in sorted(set(hashes.values())):
        own = {hashed for hashed in hashes if hashes[hashed] == stay}
        some = [person for hashed, person in persons.items() if hashed in own]
        forgotten.stage(connection, some)
        connection.commit()
        nameless = partial(without_person, persons=some, hasher=email_hasher(connection))
        rows = RawRows(events, orders, nameless if stay else None)
        counts += remove_rows(run, [shop_key], rows, take_back_removed)
        counts["events"] += remove_kept_facts(run, shop_key, _carries(some))
        phase("rejects")
        counts["rejects"] += _remove_rejects(connection, reject_shops, own)
        # The sightings of forms whose name or path names a person.
        for row in connection.table(
            "SELECT form_id, name, path FROM form_sighting WHERE shop_key = $1", shop_key
        ).to_pylist():
            texts = (row["name"], row["path"], row["path"].strip("/"))
            if forgotten.is_mentioned(email_hasher(connection), own, *texts):
                which = "shop_key = $1 AND form_id = $2"
                connection.execute(
                    f"DELETE FROM form_sighting WHERE {which}", shop_key, row["form_id"]
                )
        connection.commit()
    forgotten.rows_gone(connection, shop_key, removed, connection.now_micros())
    return counts


def _remove_rejects(connection: ArrowConnection, shops: tuple[int, ...], hashes: set[str]) -> int:
    """Delete the rejects of shops that name a person; of no known shop those that do so in a field of that
    kind, since any word of them may be another shop's. Commits."""
    hasher, removed = email_hasher(connection), 0
    for page in pages(connection, f"WHERE shop_key IN ({sql_list(shops)})"):
        gone = []
        for row in connection.table(
            "SELECT reject_id, shop_key, reason, text FROM reject "
            f"WHERE reject_id IN ({sql_list(page)})"
        ).to_pylist():
            names = (
                forgotten.is_named_by_field
                if row["shop_key"] == _NO_SHOP
                else forgotten.is_mentioned
            )
            if names(hasher, hashes, row["text"], row["reason"]):
                gone.append(row["reject_id"])
        connection.commit()
        if gone:
            connection.execute(f"DELETE FROM reject WHERE reject_id IN ({sql_list(gone)})")
            connection.commit()
            removed += len(gone)
    return removed
