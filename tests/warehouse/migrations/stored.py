"""A warehouse as `jobs backup` of a revision wrote it, and what it is a warehouse of."""

import gzip
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tests.support.answers import Question, questions_about
from tests.support.oracle.records import Row
from tests.support.product import Product
from tests.support.worlds import world
from warehouse.backups import back_up

_FOLDER: Final = Path(__file__).parent
_BEFORE: Final = ("shops", "forms", "ad-spend", "ad-accounts", "exchange-rates")


@dataclass(frozen=True)
class Story:
    """The records that were imported, those that come later, and what to ask."""

    imported: dict[str, list[Row]]
    later: dict[str, list[Row]]
    questions: list[Question]

    @property
    def whole(self) -> dict[str, list[Row]]:
        return {kind: rows + self.later.get(kind, []) for kind, rows in self.imported.items()}

    def write(self, file: Path) -> None:
        with gzip.open(file, "wt", encoding="utf-8") as stream:
            json.dump(asdict(self), stream)


def backup_of(revision: str, database: str) -> Path:
    return _FOLDER / f"{revision}.{database}.backup"


def story_of(revision: str) -> Path:
    return _FOLDER / f"{revision}.json.gz"


def read(file: Path) -> Story:
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        told = json.load(stream)
    # JSON has no tuples.
    told["questions"] = [(shop, path, query) for shop, path, query in told["questions"]]
    return Story(**told)


def make(url: str, backup: Path) -> Story:
    """Fill an empty database with a random world, of which something is still to be rolled up and something
    was rejected, and back it up."""
    some = world(17, 12)
    product = Product(url)
    parts = {kind: [rows[part::3] for part in range(3)] for kind, rows in some.records.items()}
    for kind in _BEFORE:
        product.load(kind, some.records[kind])
    for part in range(2):
        product.rollup()
        for kind in ("events", "orders"):
            product.load(kind, parts[kind][part])
    product.load("shops", [{"shop_id": "has no currency"}], rejected=1)
    back_up(url, backup, lambda *_: None)
    later = {kind: parts[kind][2] for kind in ("events", "orders")}
    imported = {
        kind: parts[kind][0] + parts[kind][1] if kind in later else rows
        for kind, rows in some.records.items()
    }
    questions = [
        (shop, path, query) for shop, path, query in questions_about(some) if "range" in query
    ]
    return Story(imported, later, questions)
