"""Persons who are forgotten: how their rows are found, and the keyed hashes by which imports know them again.

A row is a person's if it carries the person's identifier. A removal remembers the
hash first: an import that writes meanwhile either ends before that, or sees it.

Pages remove nothing. They remember the hash, and the next refresh looks for the rows that it is of. A person
is forgotten once no edition has the rows any more (`jobs/pipeline/removal.py`).
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import pyarrow as pa
from sqlalchemy import Connection, Row, Table, bindparam, select
from sqlalchemy import text as sql

from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.domain.email_hash import EmailHasher, hashed_email, is_sha256, keyed_of
from warehouse.domain.hash_ids import SEPARATOR, text_id
from warehouse.domain.text_rules import texts_in
from warehouse.operations import tasks
from warehouse.operations.tasks import FORGET, PERSONS
from warehouse.tables.base import is_text, unique_names

EMAIL: Final = "email"
COLUMNS: Final = {EMAIL: "email_sha256", "customer": "customer_id", "visitor": "visitor_id"}
"""The columns of raw rows that have identifiers, by kind of identifier."""

MOST_WAITING: Final = 100
"""Requests of a shop that may wait: each makes a refresh longer, for all shops."""

_STAGED: Final = "staged_identifiers"
# The keyed hash of an address in another text, in lower case (`email_hash.EmailHasher.mark`).
_MARK: Final = "hmac:"
_MARKS: Final = re.compile(rf"{_MARK}([0-9a-f]{{64}})")
_WORDS: Final = re.compile(r"[^\s,;\"'{}\[\]()]+")
# A field that names a customer or a visitor, and its value as JSON has it. Strangers write these texts:
# nothing is looked at more than twice.
_FIELDS: Final = re.compile(
    r'"(customer|visitor)_id"\s*+:\s*+("(?:[^"\\]++|\\.)*+"|[^\s,}\]]++)', re.DOTALL
)


class Identifier(NamedTuple):
    """An identifier of a person as raw rows have it. `kind`: one of COLUMNS; of an e-mail address `text` is
    the keyed hash."""

    kind: str
    text: str

    @property
    def shown(self) -> str:
        """The text that people may give to `identifier_of` again."""
        return f"{_MARK}{self.text}" if self.kind == EMAIL else self.text


def identifier_of(hasher: EmailHasher, kind: str, text: str) -> Identifier:
    """An identifier of a person, as raw rows have it. An e-mail address may be its SHA-256."""
    if kind != EMAIL:
        return Identifier(kind, hasher.text(text))
    plain = text.strip().lower()
    keyed = keyed_of(plain) or hasher.keyed(plain if is_sha256(plain) else hashed_email(text))
    return Identifier(kind, keyed)


class TooManyWait(Exception):
    """MOST_WAITING requests of a shop wait already."""


def identifier_hash(hasher: EmailHasher, identifier: Identifier) -> str:
    """The hash that is kept of an identifier."""
    return hasher.keyed(SEPARATOR.join(identifier))


_REMEMBER: Final = (
    "INSERT INTO forgotten (shop_key, identifier_hash, asked_at, keeps_orders) VALUES ({}, {}, {}, {}) "
    "ON CONFLICT (shop_key, identifier_hash) DO UPDATE "
    "SET removed_at = 0, rows_gone_at = 0, keeps_orders = excluded.keeps_orders"
)
_ASK: Final = sql(_REMEMBER.format(":shop_key", ":hashed", ":now", "0"))
_LAST: Final = (
    select(tables.forgotten)
    .where(tables.forgotten.c.shop_key == bindparam("shop_key"))
    .order_by(tables.forgotten.c.asked_at.desc(), tables.forgotten.c.identifier_hash)
    .limit(bindparam("limit"))
)


_WAITING: Final = select(tables.forgotten.c.identifier_hash).where(
    tables.forgotten.c.shop_key == bindparam("shop_key"), tables.forgotten.c.removed_at == 0
)
_LOCK: Final = (
    select(tables.shop.c.shop_key)
    .where(tables.shop.c.shop_key == bindparam("shop_key"))
    .with_for_update()
)
_FACTS: Final = ("fact_form_session", "fact_order")
# That a fact carries an identifier. `customer` may follow from the e-mail address, and has the index.
_CARRIED: Final = {
    EMAIL: "{0}.email = {1} AND {0}.email <> 0",
    "customer": "{0}.customer = {1} AND {0}.customer_seen = {1} AND {0}.customer <> 0",
    "visitor": "{0}.visitor = {1} AND {0}.visitor <> 0",
}
_SEEN: Final = {EMAIL: "email", "customer": "customer_seen", "visitor": "visitor"}


def _of_person(kind: str, columns: str, table: str) -> str:
    is_carried = _CARRIED[kind].format("f", ":id")
    return f"SELECT {columns} FROM {table} f WHERE f.edition = :edition AND {is_carried}"


def _left_under(kind: str, other: str, table: str) -> str:
    """The facts without an identifier that carry one of the staged `others`."""
    return (
        f"SELECT COUNT(*) FROM others o JOIN {table} f ON f.edition = :edition "
        f"AND {_CARRIED[other].format('f', 'o.id')} WHERE f.{_SEEN[kind]} <> :id"
    )


_IN_FIGURES: Final = {
    kind: sql(
        f"SELECT ({_of_person(kind, 'COUNT(*)', _FACTS[0])}) AS sessions, "
        f"({_of_person(kind, 'COUNT(*)', _FACTS[1])}) AS orders"
    )
    for kind in COLUMNS
}
_UNDER_OTHERS: Final = {
    (kind, other): sql(
        "WITH others AS (SELECT id FROM ("
        + " UNION ".join(_of_person(kind, f"f.{_SEEN[other]} AS id", table) for table in _FACTS)
        + ") x WHERE id <> 0 AND id <> :id) SELECT (SELECT COUNT(*) FROM others) AS identifiers, "
        f"({_left_under(kind, other, _FACTS[0])}) AS sessions, "
        f"({_left_under(kind, other, _FACTS[1])}) AS orders"
    )
    for kind in COLUMNS
    for other in COLUMNS
    if other != kind
}


def remember(
    connection: ArrowConnection, shop_key: int, hashes: Mapping[str, bool], now: int
) -> None:
    """Remember persons, whose rows imports drop from now on, and ask to forget them. `hashes`: whether the
    person's orders stay, without the person. Commits."""
    # An import that has begun to write ends first; one that begins later sees the hashes.
    connection.lock_shops(str(shop_key))
    for hashed, keeps_orders in hashes.items():
        connection.execute(
            _REMEMBER.format("$1", "$2", "$3", "$4"), shop_key, hashed, now, int(keeps_orders)
        )
    tasks.ask_of_job(connection, shop_key, PERSONS, FORGET)
    connection.commit()


def ask(connection: Connection, shop_key: int, hashed: str, now: int) -> None:
    """Ask the next refresh to forget a person. Raises TooManyWait."""
    # Two who ask at once would each count without the other.
    connection.execute(_LOCK, {"shop_key": shop_key})
    waits = set(connection.execute(_WAITING, {"shop_key": shop_key}).scalars())
    if hashed not in waits and len(waits) >= MOST_WAITING:
        raise TooManyWait
    connection.execute(_ASK, {"shop_key": shop_key, "hashed": hashed, "now": now})
    tasks.ask(connection, shop_key, PERSONS, FORGET, now)


def last(connection: Connection, shop_key: int, limit: int) -> Sequence[Row[Any]]:
    """The persons whom a shop has forgotten last: rows of `forgotten`."""
    return connection.execute(_LAST, {"shop_key": shop_key, "limit": limit}).all()


def in_figures(
    connection: Connection, shop_key: int, edition: int, person: Identifier
) -> tuple[int, int]:
    """The number of form sessions and orders that an edition has under an identifier."""
    id = text_id(f"{shop_key}{SEPARATOR}{person.text}")
    row = connection.execute(_IN_FIGURES[person.kind], {"edition": edition, "id": id}).one()
    return row.sessions, row.orders


def under_others(
    connection: Connection, shop_key: int, edition: int, person: Identifier
) -> dict[str, Row[Any]]:
    """The other identifiers of the form sessions and orders that carry one, by kind: how many `identifiers`,
    and how many `sessions` and `orders` without the first carry these."""
    values = {"edition": edition, "id": text_id(f"{shop_key}{SEPARATOR}{person.text}")}
    return {
        other: connection.execute(query, values).one()
        for (kind, other), query in _UNDER_OTHERS.items()
        if kind == person.kind
    }


def waiting(connection: ArrowConnection, shop_key: int) -> dict[str, bool]:
    """The hashes of the persons of a shop whose raw rows have not all gone, the oldest first, and whether
    their orders stay. Commits."""
    rows = connection.table(
        "SELECT identifier_hash, keeps_orders FROM forgotten WHERE shop_key = $1 "
        "AND removed_at = 0 AND rows_gone_at = 0 ORDER BY asked_at, identifier_hash",
        shop_key,
    ).to_pylist()
    connection.commit()
    return {row["identifier_hash"]: bool(row["keeps_orders"]) for row in rows}


def rows_gone(
    connection: ArrowConnection, shop_key: int, removed: Mapping[str, tuple[int, int]], now: int
) -> None:
    """Record that the raw rows of persons have gone. `removed`: by hash, how many more events and orders
    these were. Commits."""
    for hashed, (events, orders) in removed.items():
        connection.execute(
            "UPDATE forgotten SET rows_gone_at = $1, events = events + $2, orders = orders + $3 "
            "WHERE shop_key = $4 AND identifier_hash = $5",
            now,
            events,
            orders,
            shop_key,
            hashed,
        )
    connection.commit()


def remembered(connection: ArrowConnection, shop_key: int) -> dict[str, bool]:
    """The hashes of the persons that a shop has forgotten, and whether their orders stay."""
    rows = connection.table(
        "SELECT identifier_hash, keeps_orders FROM forgotten WHERE shop_key = $1", shop_key
    ).to_pylist()
    return {row["identifier_hash"]: bool(row["keeps_orders"]) for row in rows}


def remembered_by_shop(connection: ArrowConnection) -> dict[int, set[str]]:
    """The hashes alone, of each shop that has forgotten somebody."""
    hashes: dict[int, set[str]] = {}
    for row in connection.table("SELECT shop_key, identifier_hash FROM forgotten").to_pylist():
        hashes.setdefault(row["shop_key"], set()).add(row["identifier_hash"])
    return hashes


def stage(connection: ArrowConnection, identifiers: Collection[Identifier]) -> None:
    """Stage the identifiers that `carries` and `carried_rows` are about."""
    kinds, texts = zip(*identifiers, strict=True) if identifiers else ((), ())
    columns = {
        "number": pa.array(range(len(identifiers)), pa.int64()),
        "kind": pa.array(kinds, pa.string()),
        "text": pa.array(texts, pa.string()),
    }
    connection.stage(_STAGED, pa.table(columns))


def carries(table: Table) -> str:
    """The SQL condition that a raw row carries a staged identifier. An e-mail address may be in any text."""
    same = " OR ".join(
        f"{column} IN (SELECT text FROM {_STAGED} WHERE kind = '{kind}')"
        for kind, column in COLUMNS.items()
    )
    return (
        f"({same} OR EXISTS (SELECT 1 FROM {_STAGED} p WHERE p.kind = '{EMAIL}' "
        f"AND {_texts(table)} LIKE '%' || p.text || '%'))"
    )


def carried_rows(connection: ArrowConnection, table: Table, shop_key: int) -> Counter[Identifier]:
    """The number of rows of a shop that carry each of the staged identifiers; a row counts for the first that
    it carries."""
    same = (f"(p.kind = '{kind}' AND p.text = {column})" for kind, column in COLUMNS.items())
    in_texts = f"(p.kind = '{EMAIL}' AND {_texts(table)} LIKE '%' || p.text || '%')"
    is_carried = f"({' OR '.join((*same, in_texts))})"
    found = connection.table(
        f"SELECT s.kind, s.text, n.rows FROM (SELECT number, COUNT(*) AS rows FROM ("
        f"SELECT MIN(p.number) AS number FROM {table.name} JOIN {_STAGED} p ON {is_carried} "
        f"WHERE shop_key = $1 AND {carries(table)} GROUP BY {names(unique_names(table))}) x "
        f"GROUP BY number) n JOIN {_STAGED} s ON s.number = n.number",
        shop_key,
    ).to_pylist()
    return Counter({Identifier(row["kind"], row["text"]): int(row["rows"]) for row in found})


def is_marked(table: Table) -> str:
    """The SQL condition that the hash of an address is in another text of a raw row than an identifier."""
    return f"({_texts(table, *COLUMNS.values())} LIKE '%{_MARK}%')"


def identifiers_in(kind: str, texts: Iterable[str]) -> set[Identifier]:
    """The identifiers that texts of a kind are, or have in them."""
    found = {Identifier(kind, text) for text in texts if text}
    return found | {
        Identifier(EMAIL, hashed) for _, text in found for hashed in _MARKS.findall(text)
    }


def find(
    connection: ArrowConnection, hasher: EmailHasher, table: Table, which: str, hashes: set[str]
) -> dict[str, Identifier]:
    """The identifiers with one of these hashes that the raw rows carry which meet a condition, by hash."""
    candidates = {
        Identifier(kind, text)
        for kind, column in COLUMNS.items()
        for text in connection.table(
            f"SELECT DISTINCT {column} FROM {table.name} WHERE {which} AND {column} <> ''"
        )
        .column(0)
        .to_pylist()
    }
    marked = connection.table(
        f"SELECT DISTINCT {_texts(table)} FROM {table.name} "
        f"WHERE {which} AND {_texts(table)} LIKE '%{_MARK}%'"
    )
    candidates |= {
        Identifier(EMAIL, hashed)
        for text in marked.column(0).to_pylist()
        for hashed in _MARKS.findall(text)
    }
    return of_hashes(hasher, hashes, candidates)


def of_hashes(
    hasher: EmailHasher, hashes: Collection[str], candidates: Iterable[Identifier]
) -> dict[str, Identifier]:
    """The candidates that have one of these hashes, by hash."""
    hashed = ((identifier_hash(hasher, one), one) for one in candidates)
    return {hash: one for hash, one in hashed if hash in hashes}


def is_mentioned(hasher: EmailHasher, hashes: set[str], *texts: str) -> bool:
    """Whether texts name a person with one of these hashes: those of a rejected row, and its reason."""
    found = {Identifier(EMAIL, one) for text in texts for one in _MARKS.findall(text.lower())}
    for text in texts:
        words = {word.strip(":") for word in _WORDS.findall(text)}
        with suppress(ValueError, RecursionError):
            words.update(texts_in(json.loads(text)))
        found |= {Identifier(kind, word) for word in words for kind in COLUMNS if kind != EMAIL}
    return bool(of_hashes(hasher, hashes, found))


def is_named_by_field(hasher: EmailHasher, hashes: set[str], *texts: str) -> bool:
    """Whether texts name a person with one of these hashes in a field of that kind: those of a rejected row
    that may be another shop's, and its reason."""
    found = {Identifier(EMAIL, one) for text in texts for one in _MARKS.findall(text.lower())}
    for text in texts:
        for kind, value in _FIELDS.findall(text):
            with suppress(ValueError):
                value = str(json.loads(value)) if value.startswith('"') else value
            found.add(Identifier(kind, value))
    return bool(of_hashes(hasher, hashes, found))


def _texts(table: Table, *others: str) -> str:
    """All texts of a row in one but the hash of its address and these others, in lower case: codes are in
    upper case."""
    left_out = (COLUMNS[EMAIL], "precedence", "content", *others)
    columns = [
        column.name for column in table.columns if is_text(column) and column.name not in left_out
    ]
    return "LOWER(" + " || ' ' || ".join(columns) + ")"
