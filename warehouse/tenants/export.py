"""Exporting a shop: one archive with all its raw rows, its forms and its daily figures.

The archive is a zip of NDJSON files that are compressed each by itself, in a folder per kind, as the landing
folder has them, and of Parquet files in `daily/`, one for each summary, with texts in the place of ids. It is
of one snapshot: everything else may run meanwhile. Keys, members, write keys, pulls, rejects and the audit
trail stay here: they are of this installation.
"""

import gzip
import hashlib
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Connection, func, select

from warehouse.backups.files import whole_or_nothing
from warehouse.catalogue import SUMMARIES, Summary
from warehouse.connections.engine import backend_of, open_engine
from warehouse.daily.reader import DailyRows
from warehouse.domain.form_rules import LEFT_OUT, FormRules, parse
from warehouse.domain.text_rules import MAX_ID
from warehouse.domain.time import day_date, iso_millis
from warehouse.domain.vocabulary import (
    ANSWER,
    ATTRIBUTION_TYPES,
    COMPLETE,
    CUSTOMER_TYPES,
    DEVICES,
    EVENT_TYPES,
    SUBSCRIBE,
    UTM_FIELDS,
    VISITOR_LEVELS,
    VISITOR_TYPES,
)
from warehouse.forms.form_sightings import FINDING
from warehouse.shops import notes
from warehouse.tables import DAILY, dim_text, dim_utm, edition, form_sighting, kept_facts, shop
from warehouse.tenants.deletion import UnknownShop
from warehouse.tenants.raw_rows import Row, kinds_of_rows

_SUBMITS: Final = (EVENT_TYPES[SUBSCRIBE], EVENT_TYPES[COMPLETE])

# The level of gzip: a third of the default's time for a tenth more bytes.
_LEVEL: Final = 2

_README: Final = """\
{shop_id}, exported by formrevenue.

To import it into another installation, in the folder of formrevenue there:

    unzip ARCHIVE -d exported
    for kind in {kinds}; do
      .venv/bin/python -m jobs import $kind exported/$kind/*.ndjson.gz
    done
    .venv/bin/python -m jobs rollup

{same} (ATTRIBUTION_WINDOW_DAYS was {window} here.)
Events of a form that Set up merged into another one have the other's id here; those of a form that it
leaves out are missing, and those of a page by which a form is split have an id of their own. Where the
Discounts page says that a code is a form's, each submission of the form has an event more here (an answer
without content) with the code.

An e-mail address is not in the rows. `email_sha256` has the keyed hash that stands for it in this
installation (`hmac:...`); it is no hash that ad platforms know. An installation with the same HASH_SECRET
knows the person again in rows that are imported later with the address itself; for another one these are of
another person.

seen-forms.ndjson.gz, where there is one, has the forms that the collector saw on pages in the last days; an
import does not need it. notes.ndjson.gz, where there is one, has the notes on days: send each line to
POST /v1/notes.

daily/ has the daily figures, for a spreadsheet or a notebook; an import does not need them. Money is in
minor units of {currency}, `duration` in microseconds; `previous` is the visitor's last active day before
(days since 1970-01-01, -1 for none), `bucket` a bucket of the histogram of durations. In response.parquet
a row without `value` counts everybody who answered the field. The outcomes of submissions are in the files
called outcome, on the day of the submission; `delay` is the whole days of 24 h from it to an order. In
visitor.parquet, purchasers are the sum over all delays, so some rows are negative.
"""


_SAME: Final = "The answers are the same then, if ATTRIBUTION_WINDOW_DAYS is the same there."
_NOT_THE_SAME: Final = (
    "RAW_DAYS had removed raw events up to {}: the answers there are of the later ones alone. daily/ has\n"
    "the figures of all days."
)


@dataclass(frozen=True)
class Exported:
    """The rows of an archive by kind of file, its size, and what is missing in it."""

    rows: dict[str, int]
    size: int
    # The events up to this day are not in it: RAW_DAYS removed them. "" for none.
    purged_until: str


def export_shop(url: str, shop_id: str, file: Path, *, force: bool = False) -> Exported:
    """Write a shop's archive. The file appears when it is complete. Raises UnknownShop and
    OSError."""
    if file.exists() and not force:
        raise FileExistsError(
            f"{file} is there already; choose another name, or say --force to replace it"
        )
    engine = open_engine(url)
    with engine.connect().execution_options(**backend_of(url).snapshot_options) as connection:
        settings = select(shop, edition.c.window_days).join_from(
            shop, edition, edition.c.edition == shop.c.edition, isouter=True
        )
        row = connection.execute(settings.where(shop.c.shop_id == shop_id)).mappings().one_or_none()
        if row is None:
            raise UnknownShop(shop_id)
        with whole_or_nothing(file) as partial, zipfile.ZipFile(partial, "w") as archive:
            rules, rows = parse(row["form_rules"]), {}
            for kind, stored in kinds_of_rows(connection, row["shop_key"], shop_id):
                counted = _as_counted(kind, stored, rules)
                if number := _write(archive, f"{kind}/{kind}", counted):
                    rows[kind] = number
            seen = form_sighting.c
            sighted = select(seen.form_id, seen.name, seen.path, seen.seen_at)
            of_pages = seen.shop_key == row["shop_key"], ~seen.form_id.startswith(FINDING)
            found = connection.execute(sighted.where(*of_pages).order_by(seen.form_id))
            on_pages = (
                {"form_id": form_id, "name": name, "path": path, "seen_at": iso_millis(seen_at)}
                for form_id, name, path, seen_at in found
            )
            _write(archive, "seen-forms", on_pages)
            # As `POST /v1/notes` takes them.
            of_days = notes.of_days(connection, row["shop_key"])
            on_days = ({"date": day_date(one.day).isoformat(), "text": one.text} for one in of_days)
            _write(archive, "notes", on_days)
            own = kept_facts.c.shop_key == row["shop_key"]
            last_at = connection.scalar(select(func.max(kept_facts.c.last_at)).where(own))
            purged_until = iso_millis(last_at)[:10] if last_at else ""
            readme = _README.format(
                shop_id=shop_id,
                kinds=" ".join(rows),
                window=row["window_days"] or "not used yet",
                currency=row["currency"],
                same=_NOT_THE_SAME.format(purged_until) if purged_until else _SAME,
            )
            _figures(connection, archive, row["edition"], partial.parent)
            archive.writestr("README.txt", readme)
    return Exported(rows, file.stat().st_size, purged_until)


def _as_counted(kind: str, rows: Iterable[Row], rules: FormRules) -> Iterator[Row]:
    """Events under the ids of the forms that they count for, and no form that has a rule. Beside an event by
    which a form is submitted, one for each code that is its form's."""
    codes = [(code, rules.counted_as(form_id)) for code, form_id in sorted(rules.codes.items())]
    for row in rows:
        form_id = row.get("form_id", "")
        counted = rules.counted_as(form_id, row.get("page_path", ""))
        if kind != "events":
            if form_id not in rules.forms:
                yield row
        elif counted != LEFT_OUT:
            row["form_id"] = counted
            yield row
            if row["type"] in _SUBMITS:
                yield from (_issued(row, code) for code, owner in codes if owner == counted)


def _issued(row: Row, code: str) -> Row:
    """An event of the session and instant of another that says nothing but its code: an answer without
    content. Where ids decide, its id is next to the other's."""
    event_id = f"{row['event_id']} {code}"
    if len(event_id) > MAX_ID:
        digest = hashlib.sha256(event_id.encode()).hexdigest()
        event_id = f"{event_id[: MAX_ID - len(digest)]}{digest}"
    issued = {**row, "event_id": event_id, "discount_code": code, "discount_id": None}
    nothing: Row = {"type": EVENT_TYPES[ANSWER], "field_id": "-", "field_type": "-", "value": []}
    return {name: value for name, value in (issued | nothing).items() if value is not None}


def _write(archive: zipfile.ZipFile, name: str, rows: Iterator[Row]) -> int:
    """Write rows, if there are any; returns how many."""
    first = next(rows, None)
    if first is None:
        return 0
    with (
        archive.open(f"{name}.ndjson.gz", "w", force_zip64=True) as member,
        gzip.GzipFile("", "wb", _LEVEL, member) as packed,
    ):
        for count, row in enumerate(chain([first], rows), 1):  # noqa: B007
            packed.write(orjson.dumps(row) + b"\n")
    return count


def _figures(connection: Connection, archive: zipfile.ZipFile, number: int, folder: Path) -> None:
    # Parquet is written with its end first known at the end, which a member of an archive cannot take.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".export-") as aside:
        for summary in SUMMARIES:
            file = Path(aside, f"{summary.name}.parquet")
            write_figures(connection, summary, number, file)
            archive.write(file, f"daily/{file.name}")
            file.unlink()


# Days that are in memory at once.
_DAYS: Final = 7
# Ids that one statement looks up.
_IDS: Final = 2_000
# Dimensions that are days.
_CALENDAR: Final = ("day", "submitted")
_WORDS: Final = {"device": DEVICES, "type": ATTRIBUTION_TYPES, "customer_type": CUSTOMER_TYPES}
# A visitor is a number of its own, which says nothing else.
_NUMBERS: Final = ("bucket", "previous", "delay", "visitor", "is_first_session", "is_one")


def write_figures(connection: Connection, summary: Summary, edition: int, file: Path) -> None:
    """Write all rows of a summary of an edition (0: none)."""
    dims = ("day", *summary.dims, *summary.packed_dims)
    days = DAILY[summary.name].c.day
    of_edition = DAILY[summary.name].c.edition == edition
    first, last = connection.execute(select(func.min(days), func.max(days)).where(of_edition)).one()
    writer: pq.ParquetWriter | None = None
    # One block at least, so that the columns of a summary without rows are there too.
    for day in range(first or 0, (last or 0) + 1, _DAYS):
        until = min(day + _DAYS - 1, last or 0)
        sums = DailyRows(connection, edition, day, until).sums(summary.name, by=dims)
        columns: dict[str, Any] = {}
        for name in dims:
            columns |= _labelled(connection, edition, name, sums[name])
        columns |= {name: pa.array(sums[name], pa.int64()) for name in summary.measures}
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(file, table.schema)
        if table.num_rows:
            writer.write_table(table)
    if writer:
        writer.close()


def _labelled(
    connection: Connection, edition: int, name: str, numbers: np.ndarray
) -> dict[str, pa.Array]:
    """The column of a dimension as people read it, or the several columns that it stands for."""
    if name in _CALENDAR:
        return {name: pa.array(numbers.astype(np.int32)).cast(pa.date32())}
    if name in _WORDS:
        return {name: pa.array(_WORDS[name]).take(pa.array(numbers))}
    if name == "kind":
        types, levels = np.divmod(numbers, len(VISITOR_LEVELS))
        return {
            "visitor_type": pa.array(VISITOR_TYPES).take(pa.array(types)),
            "visitor_level": pa.array(VISITOR_LEVELS).take(pa.array(levels)),
        }
    if name == "utm":
        texts = _looked_up(connection, dim_utm, "utm", UTM_FIELDS, edition, numbers)
        return {
            field: pa.array([texts[number][place] for number in numbers.tolist()], pa.string())
            for place, field in enumerate(UTM_FIELDS)
        }
    if name in _NUMBERS:
        return {name: pa.array(numbers, pa.int64())}
    texts = _looked_up(connection, dim_text, "id", ("text",), edition, numbers)
    return {name: pa.array([texts[number][0] for number in numbers.tolist()], pa.string())}


def _looked_up(
    connection: Connection, table: Any, id: str, values: Iterable[str], edition: int, numbers: Any
) -> dict[int, tuple[str, ...]]:
    """The values behind each of these ids; "" behind 0."""
    columns = [table.c[value] for value in values]
    wanted = [number for number in np.unique(numbers).tolist() if number]
    found: dict[int, tuple[str, ...]] = {0: ("",) * len(columns)}
    for start in range(0, len(wanted), _IDS):
        rows = connection.execute(
            select(table.c[id], *columns).where(
                table.c.edition == edition, table.c[id].in_(wanted[start : start + _IDS])
            )
        )
        found |= {row[0]: tuple(row[1:]) for row in rows}
    return found
