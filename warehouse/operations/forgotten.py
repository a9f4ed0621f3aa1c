"""Persons who are forgotten: how their rows are found, and the keyed hashes by which imports know them again.

A row is a person's if it carries the person's identifier. A removal remembers the
hash first: an import that writes meanwhile either ends before that, or sees it.

Pages remove nothing. They remember the hash, and the next refresh looks for the rows that it is of.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import pyarrow as pa
from sqlalchemy import Connection, Row, Table, bindparam, select
from sqlalchemy import text as sql

from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.email_hash import EmailHasher, hashed_email, is_sha256, keyed_of
from warehouse.domain.hash_ids import SEPARATOR, text_id
from warehouse.domain.json_values import texts_in
from warehouse.tables.base import is_text

EMAIL: Final = "email"
COLUMNS: Final = {EMAIL: "email_sha256", "customer": "customer_id", "visitor": "visitor_id"}
"""The columns of raw rows that have identifiers, by kind of identifier."""

_STAGED: Final = "staged_identifiers"
# The keyed hash of an address in another text, in lower case (`email_hash.EmailHasher.mark`).
_MARK: Final = "hmac:"
_MARKS: Final = re.compile(rf"{_MARK}([0-9a-f]{{64}})")
_WORDS: Final = re.compile(r"[^\s,;\"'{}\[\]()]+")


class Identifier(NamedTuple):
    """An identifier of a person as raw rows have it. `kind`: one of COLUMNS; of an e-mail address `text` is
    the keyed hash."""

    kind: str
    text: str

    @property
    def shown(self) -> str:
        """As people may give it to `identifier_of` again."""
        return f"{_MARK}{self.text}" if self.kind == EMAIL else self.text


def identifier_of(hasher: EmailHasher, kind: str, text: str) -> Identifier:
    """An identifier of a person, as raw rows have it. An e-mail address may be its SHA-256."""
    if kind != EMAIL:
        return Identifier(kind, hasher.text(text))
    plain = text.strip().lower()
    keyed = keyed_of(plain) or hasher.keyed(plain if is_sha256(plain) else hashed_email(text))
    return Identifier(kind, keyed)


def identifier_hash(hasher: EmailHasher, identifier: Identifier) -> str:
    """The hash that is kept of an identifier."""
    return hasher.keyed(SEPARATOR.join(identifier))


_REMEMBER: Final = (
    "INSERT INTO forgotten (shop_key, identifier_hash, asked_at) VALUES ({}, {}, {}) "
    "ON CONFLICT (shop_key, identifier_hash) DO UPDATE SET removed_at = 0"
)
_ASK: Final = sql(_REMEMBER.format(":shop_key", ":hashed", ":now"))
_LAST: Final = (
    select(tables.forgotten)
    .where(tables.forgotten.c.shop_key == bindparam("shop_key"))
    .order_by(tables.forgotten.c.asked_at.desc(), tables.forgotten.c.identifier_hash)
    .limit(bindparam("limit"))
)


_SAME: Final = "WHERE edition = :edition AND {0} = :id AND {0} <> 0"
_IN_FIGURES: Final = {
    kind: sql(
        f"SELECT (SELECT COUNT(*) FROM fact_form_session {_SAME.format(kind)}) AS sessions, "
        f"(SELECT COUNT(*) FROM fact_order {_SAME.format(kind)}) AS orders"
    )
    for kind in COLUMNS
}


def remember(connection: ArrowConnection, shop_key: int, hashed: str, now: int) -> None:
    """Have imports drop the rows of a person from now on. Commits."""
    # An import that has begun to write ends first; one that begins later sees the hash.
    connection.lock_table("import_batch")
    connection.execute(_REMEMBER.format("$1", "$2", "$3"), shop_key, hashed, now)
    connection.commit()


def ask(connection: Connection, shop_key: int, hashed: str, now: int) -> None:
    """Have the next refresh forget a person."""
    connection.execute(_ASK, {"shop_key": shop_key, "hashed": hashed, "now": now})


def last(connection: Connection, shop_key: int, limit: int) -> Sequence[Row[Any]]:
    """The persons whom a shop has forgotten last: rows of `forgotten`."""
    return connection.execute(_LAST, {"shop_key": shop_key, "limit": limit}).all()


def in_figures(
    connection: Connection, shop_key: int, edition: int, person: Identifier
) -> tuple[int, int]:
    """How many form sessions and orders an edition has under an identifier."""
    id = text_id(f"{shop_key}{SEPARATOR}{person.text}")
    row = connection.execute(_IN_FIGURES[person.kind], {"edition": edition, "id": id}).one()
    return row.sessions, row.orders


def waiting(connection: ArrowConnection) -> list[tuple[int, str]]:
    """(shop key, hash) of the persons whose rows have not all gone, the oldest first. Commits."""
    rows = connection.table(
        "SELECT shop_key, identifier_hash FROM forgotten WHERE removed_at = 0 "
        "ORDER BY asked_at, shop_key, identifier_hash"
    ).to_pylist()
    connection.commit()
    return [(row["shop_key"], row["identifier_hash"]) for row in rows]


def finish(
    connection: ArrowConnection, shop_key: int, hashed: str, now: int, events: int, orders: int
) -> None:
    """Record that a person's rows have gone, and how many more these were. Commits."""
    connection.execute(
        "UPDATE forgotten SET removed_at = $1, events = events + $2, orders = orders + $3 "
        "WHERE shop_key = $4 AND identifier_hash = $5",
        now,
        events,
        orders,
        shop_key,
        hashed,
    )
    connection.commit()


def remembered(connection: ArrowConnection, shop_key: int) -> set[str]:
    """The hashes of the persons that a shop has forgotten."""
    rows = connection.table("SELECT identifier_hash FROM forgotten WHERE shop_key = $1", shop_key)
    return set(rows.column(0).to_pylist())


def remembered_by_shop(connection: ArrowConnection) -> dict[int, set[str]]:
    """The same of each shop that has forgotten somebody."""
    hashes: dict[int, set[str]] = {}
    for row in connection.table("SELECT shop_key, identifier_hash FROM forgotten").to_pylist():
        hashes.setdefault(row["shop_key"], set()).add(row["identifier_hash"])
    return hashes


def stage(connection: ArrowConnection, identifiers: Collection[Identifier]) -> None:
    """Stage the identifiers that `carries` is about."""
    kinds, texts = zip(*identifiers, strict=True) if identifiers else ((), ())
    columns = {"kind": pa.array(kinds, pa.string()), "text": pa.array(texts, pa.string())}
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
) -> list[Identifier]:
    """The identifiers with one of these hashes that the raw rows carry which meet a condition."""
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
    return sorted(one for one in candidates if identifier_hash(hasher, one) in hashes)


def is_mentioned(hasher: EmailHasher, hashes: set[str], *texts: str) -> bool:
    """Whether texts name a person with one of these hashes: those of a rejected row, and its reason."""
    named = (identifier for text in texts for identifier in _named_in(text))
    return any(identifier_hash(hasher, identifier) in hashes for identifier in named)


def _named_in(text: str) -> Iterator[Identifier]:
    """All that may be an identifier in a text."""
    for hashed in _MARKS.findall(text.lower()):
        yield Identifier(EMAIL, hashed)
    words = {word.strip(":") for word in _WORDS.findall(text)}
    with suppress(ValueError, RecursionError):
        words.update(texts_in(json.loads(text)))
    for word in words:
        for kind in COLUMNS:
            if kind != EMAIL:
                yield Identifier(kind, word)


def _texts(table: Table, *others: str) -> str:
    """All texts of a row in one but the hash of its address and these others, in lower case: codes are in
    upper case."""
    left_out = (COLUMNS[EMAIL], "precedence", "content", *others)
    columns = [
        column.name for column in table.columns if is_text(column) and column.name not in left_out
    ]
    return "LOWER(" + " || ' ' || ".join(columns) + ")"
