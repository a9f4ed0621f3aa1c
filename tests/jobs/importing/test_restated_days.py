"""A report of a platform states whole campaign-days, and without ids of campaigns whole days of the account:
what it does not repeat is withdrawn, until it is undone."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from jobs.importing.files.detect import NO_OPTIONS, ImportOptions
from jobs.importing.formats import FORMATS
from jobs.importing.import_file import import_steps
from jobs.importing.kinds import KINDS
from jobs.importing.kinds.ad_spend import AdSpendKind
from jobs.importing.kinds.base import Counts
from jobs.importing.undo import purge_imports
from tests.support.ad_reports import META_ROW, SHOP, take
from tests.support.import_files import as_ndjson, spend
from tests.support.job_commands import Commands
from tests.support.warehouse import Warehouse
from tests.tiers import thorough
from warehouse.connections.arrow import open_arrow

HEADER = "Date,Platform,Account,Campaign,Campaign ID,Ad ID,Currency,Cost,Impressions,Clicks"
OPTIONS = ImportOptions(FORMATS["spend-csv"], SHOP)
# Provider, account, campaign, day, ad: what a row is known by.
Key = tuple[str, str, str, str, str]


@dataclass
class File:
    """A file of a platform's report, or of our own rows. `rows`: (campaign's id, name, day, ad, spend)."""

    rows: list[tuple[str, str, str, str, str]]
    is_report: bool = True

    def write(self, folder: Path, number: int) -> Path:
        if not self.is_report:
            own = [
                spend(
                    campaign_id=id or name,
                    campaign_name=name,
                    date=day,
                    segment=ad and f"ad={ad}",
                    spend=cost,
                    currency="EUR",
                )
                for id, name, day, ad, cost in self.rows
            ]
            path = folder / f"own-{number}.ndjson"
            path.write_bytes(as_ndjson(own))
            return path
        path = folder / f"report-{number}.csv"
        with path.open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(HEADER.split(","))
            for id, name, day, ad, cost in self.rows:
                out.writerow([day, "Meta", "", name, id, ad, "EUR", cost, "1", "1"])
        return path


@dataclass
class Statement:
    """The files of one command, and which of them are undone."""

    files: list[File]
    undone: set[int] = field(default_factory=set)
    imports: list[int] = field(default_factory=list)


def expected(statements: Sequence[Statement]) -> dict[Key, str]:
    """The rows that stand, by the rule alone."""
    stands: dict[Key, str] = {}
    for statement in statements:
        files = [f for n, f in enumerate(statement.files) if n not in statement.undone]
        rows = [(f.is_report, *row) for f in files for row in f.rows]
        said = {("meta", "", id or name, day, ad) for _, id, name, day, ad, _ in rows}
        stated = {(id, day) for is_report, id, _, day, _, _ in rows if is_report}
        for key in [*stands]:
            if key not in said and {(key[2], key[3]), ("", key[3])} & stated:
                del stands[key]
        for _, id, name, day, ad, cost in rows:
            stands["meta", "", id or name, day, ad] = cost
    return stands


def undo(warehouse: Warehouse, import_id: int) -> None:
    with open_arrow(warehouse.url) as connection:
        AdSpendKind().take_back(connection, import_id)
        connection.commit()


def state(warehouse: Warehouse) -> list[object]:
    return sorted(warehouse.rows("SELECT * FROM ad_spend"))


def import_together(warehouse: Warehouse, statement: Statement, first: int) -> Counts:
    counts = Counts()
    with open_arrow(warehouse.url) as connection:
        for number, one in enumerate(statement.files):
            path = one.write(warehouse.folder, first + number)
            steps = import_steps(
                connection,
                KINDS["ad-spend"],
                path,
                counts,
                options=OPTIONS if one.is_report else NO_OPTIONS,
                together=statement.imports,
            )
            for _ in steps:
                pass
        counts.add_more(KINDS["ad-spend"].finish(connection, statement.imports))
    return counts


def found(warehouse: Warehouse) -> dict[Key, str]:
    rows = warehouse.records("SELECT * FROM ad_spend")
    days = {20455 + n: f"2026-01-0{2 + n}" for n in range(3)}
    return {
        (r["provider"], r["account_id"], r["campaign_id"], days[r["day"]], r["segment"][3:]): r[
            "spend"
        ]
        for r in rows
    }


def any_file(rng: Random) -> File:
    rows = {}
    has_ids = rng.random() < 0.6
    for _ in range(rng.randrange(1, 7)):
        id = rng.choice("12") if has_ids else ""
        name = f"Campaign {id or rng.choice('12')}"
        day, ad = f"2026-01-0{rng.randrange(2, 5)}", rng.choice(["", "7", "8"])
        rows[id or name, day, ad] = (id, name, day, ad, str(rng.randrange(1, 4)))
    return File([*rows.values()], is_report=rng.random() < 0.8)


@pytest.mark.parametrize("seed", [1, 13, *thorough(range(25))])
def test_what_stands_follows_from_the_imports_that_stand(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """In any portions, with several files in one command, undone in any order, the oldest forgotten, and
    imported again."""
    for reader in ("csv", "ndjson"):
        monkeypatch.setattr(f"jobs.importing.files.{reader}.CHUNK_ROWS", 2)
    rng = Random(seed)
    statements: list[Statement] = []
    number = 0
    for turn in range(9):
        again = rng.choice(statements).files if statements and rng.random() < 0.2 else None
        files = again or [any_file(rng) for _ in range(rng.choice([1, 1, 2, 3]))]
        statements.append(Statement(files))
        import_together(warehouse, statements[-1], number)
        number += len(files)
        assert found(warehouse) == expected(statements), statements
        if turn == 3 and rng.random() < 0.5:
            with open_arrow(warehouse.url) as connection:
                purge_imports(connection, 2**60, 0)
            for one in statements:
                one.imports = []
            assert found(warehouse) == expected(statements), statements
        if rng.random() < 0.4:
            undo_one(warehouse, statements, rng)
    while any(len(s.undone) < len(s.imports) for s in statements):
        undo_one(warehouse, statements, rng)


def undo_one(warehouse: Warehouse, statements: list[Statement], rng: Random) -> None:
    left = [
        (s, n) for s in statements for n in range(len(s.files)) if s.imports and n not in s.undone
    ]
    if left:
        statement, place = rng.choice(left)
        statement.undone.add(place)
        undo(warehouse, statement.imports[place])
        assert found(warehouse) == expected(statements), statements


def test_the_same_report_twice_changes_nothing(warehouse: Warehouse) -> None:
    rows = [META_ROW | {"ad_id": str(n)} for n in range(3)]
    assert take(warehouse, rows)["new"] == 3
    before = state(warehouse)
    counts = take(warehouse, rows)
    assert (counts["duplicate"], counts["new"], "withdrawn" in counts) == (3, 0, False)
    assert state(warehouse) == before
    assert len(warehouse.rows("SELECT 1 FROM ad_spend_version")) == 3
    counts = take(warehouse, rows[:1])
    assert (counts["duplicate"], counts["withdrawn"]) == (1, 2)
    undo(warehouse, 3)
    assert state(warehouse) == before
    undo(warehouse, 1)
    assert state(warehouse) == before
    undo(warehouse, 2)
    assert state(warehouse) == []


def test_the_files_of_one_command_state_together(sqlite_commands: Commands) -> None:
    jobs = sqlite_commands
    jobs.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    first = File(
        [("1", "Old name", "2026-01-02", "7", "5"), ("1", "Old name", "2026-01-02", "9", "4")]
    )
    path = str(first.write(jobs.folder, 1))
    jobs("import", "ad-spend", path, "--shop", SHOP)
    parts = [
        File([("1", "New name", "2026-01-02", ad, "3")]).write(jobs.folder, n)
        for n, ad in ((2, "7"), (3, "8"))
    ]
    said = jobs("import", "ad-spend", *map(str, parts), "--shop", SHOP)
    assert "new 1  duplicate 0  replaced 1  rejected 0  withdrawn 1" in said
    spend = "SELECT segment, spend FROM ad_spend ORDER BY segment"
    assert jobs.rows(spend) == [("ad=7", "3"), ("ad=8", "3")]
    again = jobs("import", "ad-spend", *map(str, parts), "--shop", SHOP)
    assert "new 0  duplicate 2  replaced 0  rejected 0" in again
    assert "withdrawn" not in again
    for number in ("4", "5", "3", "2"):
        jobs("imports", "undo", number)
    # One file of the second command is left: it states the day without the ad of the other.
    assert jobs.rows(spend) == [("ad=8", "3")]
    jobs("imports", "undo", "6")
    assert jobs.rows(spend) == []


def test_the_files_of_one_pull_state_together(sqlite_commands: Commands) -> None:
    jobs = sqlite_commands
    jobs.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    folder = jobs.landing / "ad-spend" / "meta" / SHOP
    folder.mkdir(parents=True)

    def land(stamp: str, *ads: str) -> None:
        for label, ad in enumerate(ads):
            name = f"pulled-meta~{label}~20261128T07100000000{stamp}Z.ndjson"
            (folder / name).write_text(json.dumps(META_ROW | {"ad_id": ad}))
        jobs("landing")

    land("1", "1", "2")
    land("2", "2", "3")
    segments = "SELECT segment FROM ad_spend ORDER BY segment"
    assert [one.rpartition("ad=")[2] for one in jobs.rows(segments)] == ["2", "3"]
