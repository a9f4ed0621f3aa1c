"""The benchmark measures what it says: the same rows in both formats, of the promised shape."""

import json
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from jobs.importing.formats import FORMATS
from tests.bench import files, formats
from tests.bench.data import FIRST, FORM_IDS, LAST
from tests.bench.service import ENDPOINTS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return files.prepare(tmp_path_factory.mktemp("bench"), 20_000)


def test_both_formats_hold_the_same_rows(folder: Path) -> None:
    columns = pq.read_table(folder / "events.parquet").to_pylist()
    lines = [json.loads(line) for line in (folder / "events.ndjson").read_text().splitlines()]
    assert (
        len(lines) == files.rows(folder / "events.parquet") == files.rows(folder / "events.ndjson")
    )
    for column, line in zip(columns, lines, strict=True):
        line["occurred_at"] = datetime.fromisoformat(line["occurred_at"])
        assert {name: value for name, value in column.items() if value is not None} == line


def test_the_size_is_kept_and_ids_are_distinct(folder: Path) -> None:
    events = pq.read_table(folder / "events.parquet").to_pandas()
    assert len(events) == 20_000
    assert events["event_id"].is_unique
    assert set(events["form_id"]) == set(FORM_IDS)
    assert events["occurred_at"].min().date() >= FIRST
    assert events["occurred_at"].max().date() <= LAST
    assert files.rows(folder / "orders.ndjson") == 400
    assert files.rows(folder / "late.ndjson") == files.LATE


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_measured_on_distinct_records(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("".join(formats.lines(name, 200)))
    records = [record for some in FORMATS[name].records(path) for _, record in some.found]
    texts = {json.dumps(record, default=str) for record in records}
    assert len(texts) == len(records) > 50


def test_all_endpoints_are_measured() -> None:
    assert len(set(ENDPOINTS.values())) == 19
