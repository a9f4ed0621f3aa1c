"""Valid rows of every kind, rows written as files, and the samples of exports of other systems."""

import csv
import gzip
import io
import json
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.importing.kinds import KINDS
from warehouse.domain.vocabulary import KEPT_WITHOUT

Row = dict[str, Any]

FORM = "0190c4a2-5b7e-7c3d-8f1a-2b3c4d5e6f70"
# The end of the reason why an id is refused.
NO_UUID = " is not a UUID; forms may have other ids in tracking calls (format segment)"


def event(**more: Any) -> Row:
    """A valid view of a form; a field given as None is left out."""
    row = {
        "event_id": "e1",
        "shop_id": "a.example",
        "form_id": FORM,
        "form_session_id": "s1",
        "visitor_id": "v1",
        "type": "view",
        "occurred_at": "2026-01-02T03:04:05.678Z",
    }
    return {name: value for name, value in {**row, **more}.items() if value is not None}


def answer(value: Any, field_type: str = "choice", **more: Any) -> Row:
    return event(type="answer", field_id="f1", field_type=field_type, **more) | {"value": value}


def order(**more: Any) -> Row:
    row = {
        "order_id": "o1",
        "shop_id": "a.example",
        "created_at": "2026-01-02T03:04:05Z",
        "total_cents": 1000,
    }
    return {name: value for name, value in {**row, **more}.items() if value is not None}


def written(path: Path, rows: Any) -> Path:
    """Rows as a file, in the format that the name asks for; bytes as they are."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet") and not isinstance(rows, bytes):
        # pyarrow would leave out every field that the first row does not have.
        names = dict.fromkeys(name for row in rows for name in row)
        pq.write_table(pa.Table.from_pylist([{n: row.get(n) for n in names} for row in rows]), path)
        return path
    if not isinstance(rows, bytes):
        rows = as_csv(rows) if name.endswith(".csv") else as_ndjson(rows)
    path.write_bytes(gzip.compress(rows) if path.suffix == ".gz" else rows)
    return path


def as_ndjson(rows: list[Row]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def as_csv(rows: list[Row]) -> bytes:
    text = io.StringIO(newline="")
    header = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, header)
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, (list, dict)):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else value


def spend(**more: Any) -> Row:
    row = {
        "shop_id": "a.example",
        "provider": "meta",
        "campaign_id": "c1",
        "campaign_name": "Spring",
        "date": "2026-01-02",
        "currency": "USD",
        "spend": "12.34",
        "impressions": 100,
        "clicks": 7,
    }
    return {name: value for name, value in {**row, **more}.items() if value is not None}


def account(**more: Any) -> Row:
    row = {"shop_id": "a.example", "provider": "meta", "status": "ok", "synced_at": "2026-01-02"}
    return {name: value for name, value in {**row, **more}.items() if value is not None}


# The first and last lines of eurofxref-hist.csv with some of its columns; Cyprus has the euro now.
ECB = b"""Date,USD,JPY,CYP,TRY,
2026-01-05,1.0340,161.5,N/A,36.1200,
2026-01-02,1.0321,N/A,N/A,36.0,
1999-01-04,1.1789,133.73,0.58231,N/A,
"""


def rate(**more: Any) -> Row:
    return {"date": "2026-01-02", "base": "EUR", "quote": "USD", "rate": "1.1000", **more}


def form(**more: Any) -> Row:
    row = {
        "form_id": FORM,
        "shop_id": "a.example",
        "name": "Quiz",
        "schema": {"steps": [1]},
        "created_at": "2025-01-01T00:00:00Z",
        "updated_at": "2025-02-01T00:00:00Z",
    }
    return {name: value for name, value in {**row, **more}.items() if value is not None}


SAMPLES: Final = Path(__file__).parent / "samples"

# The files of each format, by the beginning of their names; the first, the largest, has all that is taken.
OF_FORMAT: Final[dict[str, list[str]]] = defaultdict(list)
for _sample in sorted(SAMPLES.iterdir(), key=lambda path: -path.stat().st_size):
    OF_FORMAT[_sample.name.partition(".")[0]].append(_sample.name)


def told(kind: str, row: Row, reason: str) -> str:
    """A reason for a row as its reject has it: a field that a row may have costs itself alone."""
    name = reason.partition(":")[0]
    field = next(field for field in KINDS[kind].fields if field.name == name)
    type = str(row.get("type"))
    needs = {"step_*": type.startswith("step_"), "answer": type == "answer"}
    is_needed = field.required or field.decides or needs.get(field.required_for)
    return reason if is_needed else f"{KEPT_WITHOUT}{reason}"
