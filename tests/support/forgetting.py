"""Persons of a random world who are forgotten, and the world in which they never were."""

from dataclasses import replace
from random import Random

from tests.support.oracle.records import Row, email_hash
from tests.support.worlds import World
from tests.support.worlds.cast import CUSTOMERS, EMAILS, VISITORS

Person = tuple[str, str, str]
"""Shop, kind of identifier, identifier."""


def is_of(row: Row, person: Person) -> bool:
    shop_id, kind, text = person
    if row["shop_id"] != shop_id:
        return False
    if kind == "email":
        return email_hash(row) == email_hash({"email": text})
    return row.get(f"{kind}_id") == text


def without(given_world: World, persons: list[Person]) -> World:
    """A world in which these persons never were."""
    kept = {
        kind: [row for row in rows if not any(is_of(row, person) for person in persons)]
        for kind, rows in given_world.records.items()
        if kind in ("events", "orders")
    }
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
