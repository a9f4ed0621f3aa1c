"""Versions of orders: which rows are the same version, and which of several of one instant stands.

`content` is the identity: a row with the order, the instant and the content of a stored one is a duplicate.
It hashes all that is stored of what the row states, and so the keyed hashes of addresses, too.

The version with the greatest (updated_at, precedence, content) stands. `precedence` is what decides a tie
(contract 2). It hashes what the row states alone, and so it is the same in every warehouse:

- It leaves out the keyed hashes of addresses, which hang on the secret of the warehouse.
- It must not have the plain hash of the e-mail in it either. All other fields stand beside it as they are:
  whoever has a copy of the database could try addresses until the digest is met. That is the very
  dictionary that the keyed hash is there against. So versions that differ in nothing but the e-mail are told
  apart by the first byte of its plain hash, which stands behind the digest. In a shop of a thousand
  customers each of its 256 values occurs, so it tells nobody whether an address is among them. Two bytes
  would.
- Where even that byte is equal, or not known, `content` decides. It is another one in each warehouse.

An export states no version: `updated_at` is then the time of its file, and in neither hash. So the same order
in a later file is a version of its own, since another file may have come between, and has the same content.

Both hash the fields of `_STATED` under their names, without those that are missing, in the form in which they
are stored; neither the format of a file nor the order of its columns matters. THE LIST AND THE FORMS ARE
FROZEN. A field that is read one day must be left out here while it is missing: otherwise each order of a file
that was imported before would be a new version.
"""

import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from itertools import repeat
from typing import Final

import orjson
import pyarrow as pa

from warehouse.domain.email_hash import KEYED_MARK, EmailHasher
from warehouse.domain.time import NEVER
from warehouse.domain.vocabulary import UTM_FIELDS
from warehouse.persons.forgotten import EMAIL, Identifier

# Each stated field, by the column that has it. `refunded` follows from the others. A cancelled order
# stores that it was cancelled, not when.
_STATED: Final = {
    "created_at": "created_at",
    "updated_at": "updated_at",
    "gross": "total_cents",
    "discounted": "discount_cents",
    "customer_id": "customer_id",
    "visitor_id": "visitor_id",
    "codes": "discount_codes",
    "refunds": "refunds",
    "cancelled": "cancelled",
    "test": "test",
    **{name: name for name in UTM_FIELDS},
}
_BUYER: Final = ("customer_id", "email_sha256", "visitor_id")
_MISSING: Final = ("", 0, "[]")
# Before all hexadecimal digits.
_INCOMPLETE: Final = "-"
_MARK: Final = re.compile(KEYED_MARK)
# A mark may lie within a word: `forgotten.carries` finds it there.
_ANY_MARK: Final = "hmac:[0-9a-f]{64}"


def with_identity(
    rows: pa.Table, emails: pa.Array, incomplete: Iterable[bool] = repeat(False)
) -> pa.Table:
    """Rows of raw_order with the columns `precedence` and `content`. `emails`: see `read_emails`.
    `incomplete`: whether a row is taken without a field that could not be used. It comes after all others of
    its instant: what a retry of it can use stands in its place."""
    stated = [rows[column].to_pylist() for column in _STATED]
    keyed, plain = rows["email_sha256"].to_pylist(), emails.to_pylist()
    exported = rows["exported_at"].to_pylist()
    precedences, contents = [], []
    rows_of = zip(zip(*stated, strict=True), keyed, plain, exported, incomplete, strict=False)
    for values, hashed, email, at, lacks in rows_of:
        fields = {
            name: value
            for name, value in zip(_STATED.values(), values, strict=True)
            if value not in _MISSING
        }
        if at != NEVER:
            del fields["updated_at"]
        written = orjson.dumps(fields).decode()
        mark = _INCOMPLETE if lacks else ""
        # The first byte of a plain hash; "" of none, and where only the keyed hash is known.
        precedences.append(
            mark + _digest(_MARK.sub("", written))[:32] + ("" if _MARK.match(email) else email[:2])
        )
        contents.append(_digest(mark + written + hashed))
    for name, column in (("precedence", precedences), ("content", contents)):
        rows = rows.append_column(name, pa.array(column, pa.string()))
    return rows


def without_person(rows: pa.Table, persons: Iterable[Identifier], hasher: EmailHasher) -> pa.Table:
    """Rows of raw_order that carry one of these identifiers, without their buyers: with no identifier, and no
    hash of an address in another text. An order that has one in its id has another id.

    Both hashes are made anew: those that were there could be tried with every customer of the shop."""
    hashes = (text for kind, text in persons if kind == EMAIL)
    address = re.compile("|".join([_ANY_MARK, *hashes]), re.IGNORECASE)

    def blank(text: str) -> str:
        return "" if address.search(text) else text

    def used(text: str) -> str:
        codes = (code for code in orjson.loads(text) if blank(code[0]))
        kept = [[code, amount, blank(discount_id)] for code, amount, discount_id in codes]
        return orjson.dumps(kept).decode()

    def refunded(text: str) -> str:
        return orjson.dumps([[blank(name), *more] for name, *more in orjson.loads(text)]).decode()

    changed: dict[str, Callable[[str], str]] = {
        **dict.fromkeys(_BUYER, lambda _: ""),
        **dict.fromkeys(UTM_FIELDS, blank),
        "codes": used,
        "refunds": refunded,
        "order_id": hasher.keyed,
    }
    kept = rows.drop_columns(["precedence", "content"])
    for name, change in changed.items():
        texts = (
            change(text) if name in _BUYER or address.search(text) else text
            for text in rows[name].to_pylist()
        )
        column = pa.array(texts, pa.string())
        kept = kept.set_column(kept.column_names.index(name), name, column)
    nobody = pa.array([""] * rows.num_rows, pa.string())
    return with_identity(kept, nobody).select(rows.column_names)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
