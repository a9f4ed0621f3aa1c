"""Warehouses as released versions backed them up, with a row in every table, and what they answered."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

import sqlalchemy as sa
from click.testing import CliRunner

import jobs.cli
import web.cli
from tests.support.answers import Question, questions_about
from tests.support.any_row import any_row
from tests.support.oracle.records import Row
from tests.support.product import Product
from tests.support.worlds import world
from warehouse.backups import back_up
from warehouse.connections.engine import open_engine
from warehouse.domain.time import to_micros
from warehouse.forms import form_rules
from warehouse.migrations.migrate import SCRIPTS
from warehouse.tables.base import metadata

ROOT: Final = Path(__file__).parents[3]
FOLDER: Final = Path(__file__).parent / "releases"
RELEASES: Final = re.findall(
    r"^## \[(\d+\.\d+\.\d+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
)
_QUESTIONS: Final = 150

# The jobs of a scheduler that was seen long ago.
_SCHEDULE: Final = '[{"job": "refresh", "every_seconds": 300}]'


@dataclass(frozen=True)
class Story:
    """The instant of the questions, the records that come after the backup, and each question with its
    answer before and after them."""

    now: int
    later: dict[str, list[Row]]
    questions: list[Question]
    before: list[Any]
    after: list[Any]

    def write(self, file: Path) -> None:
        with gzip.GzipFile(file, "wb", mtime=0) as stream:
            stream.write(json.dumps(asdict(self)).encode())


@dataclass(frozen=True)
class Release:
    """The files of a version."""

    version: str

    @property
    def folder(self) -> Path:
        return FOLDER / self.version

    def backup(self, database: str, folder: Path) -> Path:
        """Its backup of a kind of database, unpacked into a folder."""
        file = folder / f"{database}.backup"
        file.write_bytes(gzip.decompress(self.packed(database).read_bytes()))
        return file

    def packed(self, database: str) -> Path:
        return self.folder / f"{database}.backup.gz"

    @property
    def story(self) -> Path:
        return self.folder / "answers.json.gz"

    @property
    def fingerprints(self) -> Path:
        return self.folder / "revisions.sha256"

    def store(self, urls: dict[str, str], folder: Path) -> None:
        """Store the files of the program as it is, made of empty databases by kind."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for database, url in urls.items():
            file = folder / database
            story = make(url, file)
            self.packed(database).write_bytes(gzip.compress(file.read_bytes(), mtime=0))
            if database == "sqlite":
                story.write(self.story)
            else:
                assert story == read(self.story), "the databases answer differently"
        self.fingerprints.write_text("".join(f"{line}\n" for line in fingerprints()))


def fingerprints() -> Iterator[str]:
    """The digests of the files of all revisions, as `sha256sum --check` takes them."""
    for file in sorted((SCRIPTS / "versions").glob("[0-9]*.*")):
        yield f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}"


def read(file: Path) -> Story:
    told = json.loads(gzip.decompress(file.read_bytes()))
    # JSON has no tuples.
    told["questions"] = [(shop, path, query) for shop, path, query in told["questions"]]
    return Story(**told)


def make(url: str, backup: Path) -> Story:
    """Fill an empty database with a random world and back it up, with something in every table: shops and
    forms that were changed, rules, imports that were undone, persons who are forgotten, raw events that are
    purged, rows that still wait for a rollup. Then go on, and note the answers."""
    some = world(11, 24)
    product = Product(url, now=to_micros(some.now))
    one, *_ = some.casts.values()
    parts = {
        kind: [some.records[kind][part::3] for part in range(3)] for kind in ("events", "orders")
    }
    stamps = {"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T00:00:00Z"}
    product.load("shops", some.records["shops"])
    product.load("forms", [row | stamps for row in some.records["forms"]])
    for kind in ("ad-spend", "ad-accounts", "exchange-rates"):
        product.load(kind, some.records[kind])
    product.load("shops", [row | {"name": "Another"} for row in some.records["shops"]])
    product.load(
        "exchange-rates", [row | {"rate": 2} for row in some.records["exchange-rates"][:1]]
    )
    product.load("ad-spend", [row | {"clicks": 7} for row in some.records["ad-spend"][:2]])
    product.load(
        "ad-accounts", [row | {"status": "error"} for row in some.records["ad-accounts"][:1]]
    )
    product.load("shops", [{"shop_id": "has no currency"}], rejected=1)
    for kind, rows in parts.items():
        product.load(kind, rows[0])
        # Its rows stay by the import before it.
        product.load(kind, rows[0][:9] + rows[2][:9])
    product.rollup()
    product.undo(product.last_import())
    for kind, rows in parts.items():
        product.load(kind, rows[0][:9])
    with open_engine(url).begin() as connection:
        form_rules.merge(connection, 1, one.forms[1], one.forms[0])
        form_rules.leave_out(connection, 1, one.foreign_form)
    product.forget(one.shop_id, "visitor", some.records["events"][0]["visitor_id"])
    product.purge(raw_days=30)
    product.rollup()
    manage(url, one.shop_id)
    for kind, rows in parts.items():
        product.load(kind, rows[1])
    fill(url)
    product.close()
    back_up(url, backup, lambda *_: None)
    later = {kind: rows[2] for kind, rows in parts.items()}
    questions = sorted(Random(17).sample([*questions_about(some)], _QUESTIONS), key=repr)
    before = answers(product, questions)
    for kind, records in later.items():
        product.load(kind, records)
    return Story(product.now or 0, later, questions, before, answers(product, questions))


def manage(url: str, shop: str) -> None:
    """The commands of an operator: they leave rows in tables that no import fills."""
    for main, *words in (
        (jobs.cli.main, "pulls", "add", "ecb"),
        (web.cli.main, "shops", "add", "gone.example", "--currency", "EUR"),
        (web.cli.main, "shops", "delete", "gone.example", "--yes"),
        (web.cli.main, "write-keys", "create", "--shop", shop, "--name", "Pages"),
        (
            web.cli.main,
            "members",
            "add",
            "--shop",
            shop,
            "--email",
            "ada@example.com",
            "--permissions",
            "forms:edit",
        ),
    ):
        done = CliRunner().invoke(main, words, env={"WAREHOUSE_URL": url})
        assert done.exit_code == 0, done.output


def fill(url: str) -> None:
    """A row in every table that nothing wrote to."""
    with open_engine(url).connect().execution_options(writes=True) as connection:
        for table in metadata.sorted_tables:
            if connection.scalar(sa.select(sa.literal(1)).select_from(table).limit(1)) is None:
                row = any_row(
                    table, "any", shop_key=1, edition=1, schedule=_SCHEDULE, host_findings="[]"
                )
                connection.execute(table.insert(), row)
        connection.commit()


def answers(product: Product, questions: list[Question]) -> list[Any]:
    """The data of each answer, or the status of a refusal; pending rows are rolled up before, and stored rows
    are those that raw gives."""
    product.rollup()
    assert product.verify_all()
    said = [product.get(path, query, shop) for shop, path, query in questions]
    product.close()
    return [body["data"] if status == 200 else status for status, body in said]
