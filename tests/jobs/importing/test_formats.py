"""Rules that hold for every format of another system."""

import json
import re
import sys
from itertools import chain, product
from pathlib import Path
from typing import Any, Final

import pytest

from jobs.importing import formats
from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.files.detect import is_own, sample_of
from jobs.importing.formats import FORMATS, ads
from jobs.importing.formats.ads.report import AdReport
from jobs.importing.formats.ads.report_table import read_table
from jobs.importing.formats.base import (
    EXPORTED_AT,
    Format,
    Record,
    Records,
    SourceField,
    Target,
    kept_record,
)
from jobs.importing.kinds import KINDS
from jobs.importing.shops import ImportedShops
from jobs.importing.values.columns import ChunkColumns
from jobs.importing.values.errors import InvalidValue
from tests.support.hashing import HASHER
from tests.support.import_files import OF_FORMAT, SAMPLES, event, order, written
from tests.support.warehouse import Warehouse
from warehouse.domain.email_hash import hashed_email

SHOPS: Final = ImportedShops({"a.example": 1}, {1: "EUR"})
# Values that systems, and people who edit exports, put where something else belongs.
ODD: Final[tuple[Any, ...]] = (
    None, "", "?", "\0", "é" * 300, "-1", "1e400", "1e-400", 0, -1, 2**70, 1.5, True, [], [None],
    [1, "a"], [[]], {}, {"a": 1}, [{}], [{"id": []}], "http://[", "2026-13-01", "utm_source=%00%ff",
)  # fmt: skip


def target() -> Target:
    return Target("a.example", "EUR")


def records_of(format: Format, name: str) -> list[Record]:
    some = format.records(SAMPLES / name)
    return [record for records in some for _, record in records.numbered]


def page_of(format: Format) -> str:
    if isinstance(format, AdReport):
        return (Path(ads.__file__).parent / f"{format.name}.toml").read_text()
    module = sys.modules[type(format).__module__].__file__
    assert module
    return Path(module).with_suffix(".md").read_text()


def table_of(page: str) -> list[list[str]]:
    lines = page.split("| their field | our field |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


@pytest.fixture(params=list(FORMATS.values()), ids=list(FORMATS))
def format(request: pytest.FixtureRequest) -> Format:
    found: Format = request.param
    return found


def test_the_page_names_every_place_that_is_taken(format: Format) -> None:
    """The table of an ad report is its page."""
    page = page_of(format)
    if isinstance(format, AdReport):
        assert "\n# Not taken: " in page
        return
    assert page.startswith(f"# `{format.name}`: ")
    assert [SourceField(*row[:2]) for row in table_of(page)] == list(format.source_fields)
    assert "\n## Not taken\n" in page


def test_the_list_of_pages_is_complete() -> None:
    text = (Path(formats.__file__).parent / "README.md").read_text()
    listed = re.findall(
        r"^\| \[`([a-z-]+)`\]\(([\w/-]+\.(?:md|toml))\) \| ([a-z-]+) \|", text, re.MULTILINE
    )
    pages = {
        name: f"ads/{name}.toml"
        if isinstance(format, AdReport)
        else type(format).__module__.removeprefix(f"{formats.__name__}.").replace(".", "/") + ".md"
        for name, format in FORMATS.items()
    }
    assert listed == [(name, pages[name], format.kind) for name, format in FORMATS.items()]


def test_a_mapping_looks_at_nothing_else(format: Format) -> None:
    """So a kept reject, which has nothing else, comes to the same row."""
    for record in chain(*(records_of(format, name) for name in OF_FORMAT[format.name])):
        text = format.kept_text(record)
        kept = kept_record(text)
        assert kept is not None
        assert format.kept_text(kept) == text
        assert row(format, kept) == row(format, record)


def row(format: Format, record: Record) -> Any:
    try:
        found = format.row(record, target())
    except InvalidValue as cause:
        return str(cause)
    if found and found.get("email"):
        found["email"] = hashed_email(found["email"])
    return found and KINDS[format.kind].conceal(found)


def test_the_sample_has_all_that_is_taken(format: Format) -> None:
    records = records_of(format, OF_FORMAT[format.name][0])
    if isinstance(format, AdReport) and format.table.any_spelling:
        # Each of them by one of its names.
        names = {name for record in records for name in record}
        places = format.table.fields | format.table.segment
        assert {str(places[name]) for name in names if name in places} == set(
            map(str, places.values())
        )
        return
    missing = [
        taken.source
        for taken in format.source_fields
        if not any(chain(*(found(record, taken.source.split(".")) for record in records)))
    ]
    # Its file has it.
    assert missing == [EXPORTED_AT] * format.dated_by_file


def found(value: Any, names: list[str]) -> list[bool]:
    """Whether there is something at a place, for each of the elements on the way."""
    if isinstance(value, list):
        return list(chain(*(found(one, names) for one in value)))
    if not names:
        return [value is not None]
    if not isinstance(value, dict):
        return []
    return found(value.get(names[0].removesuffix("[]")), names[1:])


def test_whatever_is_there_is_taken_or_rejected(format: Format) -> None:
    """A broken value costs its record, and never the import."""
    kind = KINDS[format.kind]
    records = records_of(format, OF_FORMAT[format.name][0])
    broken: list[tuple[int, Record]] = []
    for taken, odd, record in product(format.source_fields, ODD, records[:2]):
        names = taken.source.replace("[]", "").split(".")
        for depth in range(1, len(names) + 1):
            copy = json.loads(json.dumps(record, default=str))
            put(copy, names[:depth], odd)
            broken.append((len(broken) + 1, copy))
    chunk = format.chunk(kind, target(), Records(broken))
    columns = ChunkColumns(chunk, HASHER)
    kind.check(columns, SHOPS)
    assert len(columns.refused()) + len(chunk.broken) > 0
    for number in range(0, len(chunk), 97):
        assert kept_record(chunk.text(number)) is not None


def put(value: Any, names: list[str], odd: Any) -> None:
    if isinstance(value, list):
        for one in value:
            put(one, names, odd)
    elif isinstance(value, dict) and len(names) == 1:
        value[names[0]] = odd
    elif isinstance(value, dict):
        put(value.get(names[0]), names[1:], odd)


@pytest.mark.parametrize("name", [name for names in OF_FORMAT.values() for name in names])
def test_a_file_shows_which_format_it_is_of(name: str) -> None:
    sample = sample_of(SAMPLES / name)
    assert not is_own(sample)
    seeming = [format.name for format in FORMATS.values() if format.matches(sample)]
    assert [OF_FORMAT[one].count(name) for one in seeming] == [1]


@pytest.mark.parametrize("name", ["in.ndjson", "in.csv"])
def test_own_rows_are_never_taken_for_foreign_ones(tmp_path: Path, name: str) -> None:
    foreign: dict[str, Any] = {"id": 1, "total_price": "1.00", "messageId": "m", "properties": {}}
    foreign["order"] = {"created_at": "2026-01-01", "currency": "EUR", **foreign}
    for rows in ([event(**foreign)], [order(currency="EUR", **foreign)]):
        assert is_own(sample_of(written(tmp_path / name, rows)))


@pytest.mark.parametrize(
    ("kind", "named", "rows", "reason"),
    [
        ("events", "", "shopify.json", "looks like shopify (orders), not like events"),
        (
            "orders",
            "shopify-bulk",
            "shopify.json",
            "looks like shopify (orders), not like shopify-b",
        ),
        ("events", "", "meta.json", "looks like meta (ad-spend), not like events"),
        ("events", "segment", "tiktok.csv", "looks like tiktok (ad-spend), not like segment"),
        ("ad-spend", "meta", "google-ads.csv", "looks like google-ads (ad-spend), not like meta"),
        ("ad-spend", "", "ecb.day.csv", "looks like ecb (exchange-rates), not like ad-spend"),
        ("exchange-rates", "ecb", "segment.json", "looks like segment (events), not like ecb"),
        ("orders", "shopify", [order()], "looks like rows of this program, not like shopify"),
        ("orders", "", b'{"a": 1}', "unknown extension"),
        ("orders", "shopify", None, "No such file or directory"),
    ],
)
def test_a_file_of_the_wrong_format_is_refused(
    sqlite_warehouse: Warehouse, kind: str, named: str, rows: Any, reason: str
) -> None:
    path = sqlite_warehouse.folder / "in.json"
    if isinstance(rows, str):
        path = SAMPLES / rows
    elif rows is not None:
        written(path, rows)
    with pytest.raises(UnreadableFile) as refusal:
        sqlite_warehouse.take_file(kind, path, "a.example", named)
    assert str(refusal.value).startswith(f"{path}: {reason}")
    assert sqlite_warehouse.reasons() == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[fields", "Expected ']'"),
        ("[fields]", "missing required field `title`"),
        ("provider = 'x'\ntitle = 'x'", "missing required field `fields`"),
        ("[fields]\nspend = 7", "at `$.fields[...]`"),
        ("shown = ['a']\n[fields]", "unknown field `shown`"),
        (
            "title = 'x'\n[fields]\nspend = {field = 'spend', read = 'micro'}",
            "no reader 'micro'; there are account, ",
        ),
        ("title = 'x'\n[fields]\ncost = 'spent'", "no field of ad spend 'spent'; there are "),
    ],
)
def test_a_broken_table_says_where(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "pinterest.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(words)) as refusal:
        AdReport("pinterest", read_table(path))
    assert str(refusal.value).startswith(f"{path}: ")
