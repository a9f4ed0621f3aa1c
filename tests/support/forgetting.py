"""Persons of a random world who are forgotten, and the world in which they never were, or left their orders
to nobody; and what a database has left of a person."""

import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random

import sqlalchemy as sa
from sqlalchemy import URL, make_url

from tests.support import postgres
from tests.support.oracle.records import Row, email_hash
from tests.support.worlds import World
from tests.support.worlds.cast import CUSTOMERS, EMAILS, VISITORS

Person = tuple[str, str, str]
"""Shop, kind of identifier, identifier."""


_BUYER = ("customer_id", "visitor_id", "email", "email_sha256")


def is_of(row: Row, person: Person) -> bool:
    shop_id, kind, text = person
    if row["shop_id"] != shop_id:
        return False
    if kind == "email":
        return email_hash(row) == email_hash({"email": text})
    return row.get(f"{kind}_id") == text


def without(given_world: World, persons: list[Person], *, keep_orders: bool = False) -> World:
    """A world in which these persons never were; `keep_orders`: but for their orders, which are nobody's."""
    kept: dict[str, list[Row]] = {"events": [], "orders": []}
    for kind, rows in kept.items():
        for row in given_world.records[kind]:
            if not any(is_of(row, person) for person in persons):
                rows.append(row)
            elif kind == "orders" and keep_orders:
                rows.append({name: row[name] for name in row if name not in _BUYER})
    return replace(given_world, records=given_world.records | kept)


def some_persons(given_world: World, rng: Random) -> list[Person]:
    """One to four persons, who may be the same under two identifiers, or have no rows."""
    names = {"email": EMAILS, "customer": CUSTOMERS, "visitor": VISITORS}
    everyone = [
        (shop_id, kind, text)
        for shop_id in given_world.casts
        for kind, texts in names.items()
        for text in texts
    ]
    return rng.sample(everyone, rng.randrange(1, 5))


def dumped(url: str, server: URL | None) -> bytes:
    """All bytes of a database: the file after VACUUM, or what `pg_dump` writes."""
    if server is None:
        engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql("VACUUM")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        engine.dispose()
        file = Path(make_url(url).database or "")
        assert not Path(f"{file}-wal").exists() or not Path(f"{file}-wal").stat().st_size
        return file.read_bytes()
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    program = Path(postgres.programs(server), "pg_dump")
    return subprocess.run([program, f"--dbname={plain}"], capture_output=True, check=True).stdout


def left_of(url: str, server: URL | None, *names: str) -> list[str]:
    """Those of the names that stand anywhere in a database, in whatever case."""
    data = dumped(url, server).lower()
    return [name for name in names if name.lower().encode() in data]
