"""A file that a member dropped on the Data page: what it is, told before anything of it is imported.

The file lies in `IMPORT_DIR/.dropped/SHOP/`, where no import looks. It is read as an import reads it, to its
end; only of a spreadsheet the CSV that it holds takes its place. A page moves it to the folder that `place`
names once the member asks for the import: from there on it is a landed file like any other.
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.ceilings import check_time, file_ceilings
from jobs.importing.files.byte_blocks import DamagedArchive, blocks_of
from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.files.csv import UnclearTable
from jobs.importing.files.detect import (
    ImportOptions,
    answered_error,
    chunks_of,
    is_known_table,
    is_own,
    recognised,
    sample_of,
)
from jobs.importing.formats import FORMATS, unrecognised
from jobs.importing.formats.ads.report import AdReport
from jobs.importing.formats.base import Sample
from jobs.importing.import_file import checked, readable
from jobs.importing.kept_rejects import names_another_shop
from jobs.importing.kinds import KINDS
from jobs.importing.kinds.base import Kind
from jobs.importing.shops import ImportedShops
from jobs.importing.values.columns import ChunkColumns
from jobs.importing.values.notation import UnclearDates
from warehouse import command, settings
from warehouse.domain.email_hash import EmailHasher
from warehouse.domain.landing_names import DROPPED_FOLDER, OWN, can_be_folder, decimal_of
from warehouse.domain.time import day_date, local_day
from warehouse.domain.vocabulary import EVENT_TYPES
from warehouse.operations.reject_reasons import without_values

# Kinds whose rows are not one shop's own: whoever manages a shop must not change them for others.
_OF_ALL_SHOPS: Final = {
    "shops": "a list of shops; whoever runs this service imports it",
    "exchange-rates": "a list of exchange rates, which are all shops' together; whoever runs this "
    "service imports it",
}
# Tables of shops that hold nothing to import, by columns that they alone have.
_NEEDLESS: Final = {
    frozenset({"Customer ID", "Accepts Email Marketing", "Total Spent"}): (
        "Shopify's list of customers. It is not needed: customers come with their orders. Export the orders"
    ),
}
_OWN_TITLES: Final = {
    "forms": "Forms, in this service's own columns",
    "events": "Events, in this service's own columns",
    "orders": "Orders, in this service's own columns",
    "ad-spend": "Ad spend, in this service's own columns",
    "ad-accounts": "Ad accounts, in this service's own columns",
}
# Kinds whose rows are one shop's own.
_OWN_KINDS: Final = [KINDS[name] for name in _OWN_TITLES]
_TIMES: Final = {"events": "occurred_at", "orders": "created_at", "ad-spend": "day"}
_MAX_REASONS: Final = 20
# An archive that unpacks to less may be packed as well as it likes.
_SMALL: Final = 64 << 20
_ARCHIVES: Final = (".gz", ".zip")
_PARQUET: Final = ".parquet"
_SPREADSHEET: Final = ".xlsx"
# Exports are packed twentyfold, zeros a thousandfold.
MAX_RATIO: Final = 100
# The most bytes that a file unpacks to, for each byte that it may have.
_UNPACKED: Final = 4
_SUM_DIGITS: Final = 100


@dataclass
class Found:
    """The content of a file. `first` and `last`: days of its rows; `sums`: amounts by currency, as text in
    major units, or numbers of rows by name; `incomplete`: rows that would be taken without a field;
    `reasons`: these and rejected rows by reason, with the first line of each."""

    rows: int = 0
    rejected: int = 0
    incomplete: int = 0
    first: int | None = None
    last: int | None = None
    minor: int = 0
    spend: dict[str, Decimal] = field(default_factory=dict)
    types: Counter[str] = field(default_factory=Counter)
    platforms: set[str] = field(default_factory=set)
    reasons: dict[str, list[int]] = field(default_factory=dict)


def folder(root: Path, shop_id: str) -> Path:
    """The folder of a shop's dropped file."""
    return root / DROPPED_FOLDER / shop_id


def dropped_files(root: Path, shop_id: str) -> Iterator[Path]:
    """The files of a shop that nobody asked to import yet."""
    own = folder(root, shop_id)
    if can_be_folder(shop_id):
        with suppress(OSError):
            for name in sorted(os.listdir(own)):
                yield own / name


def look_at(
    path: Path, shop_id: str, timezone: str, shops: ImportedShops, hasher: EmailHasher
) -> tuple[Path, dict[str, Any]]:
    """The file to import, and what it is: `title`, `place` (the folders below the landing folder), `kind`,
    `rows`, `rejected`, `first`, `last`, `sums`, `reasons`; of ad spend `platforms`, and whether the program
    `assumed` them. Where its member must say the decimal mark, `question` has a cell of the column, and what
    it is with each mark. Raises UnreadableFile with a sentence for its member."""
    if not can_be_folder(shop_id):
        raise UnreadableFile(
            f"the id {shop_id!r} of the shop cannot be the name of a folder; use `{command('jobs import')}`"
        )
    # Rows of other shops, and of none, are refused alike: nobody learns which shops there are.
    own = shops.narrowed(shop_id)
    with file_ceilings(path):
        path = _as_table(path)
        _check_archive(path)
        sample = sample_of(path, [name for one in FORMATS.values() for name in one.list_members])
        kind, options = _recognised(path, sample, shop_id)
        question = None
        try:
            found = _read(path, kind, options, own, hasher, timezone)
        except UnclearTable as error:
            found, cause = Found(), error.cause
            if isinstance(cause, UnclearDates):
                raise UnreadableFile(
                    f"{cause.found}; write its dates as 2026-01-31, by the settings of the export or in the "
                    "spreadsheet, and drop the file again"
                ) from None
            question = {"column": cause.column, "cell": cause.cell, **cause.readings}
    return path, {
        "title": options.format.title if options.format else _OWN_TITLES[kind.name],
        "kind": kind.name,
        "place": [kind.name, options.format.name if options.format else OWN, shop_id],
        "rows": found.rows,
        "rejected": found.rejected,
        "incomplete": found.incomplete,
        "first": None if found.first is None else day_date(found.first).isoformat(),
        "last": None if found.last is None else day_date(found.last).isoformat(),
        "minor": found.minor if kind.name == "orders" else None,
        "spend": {currency: f"{amount:f}" for currency, amount in sorted(found.spend.items())},
        "types": dict(found.types),
        "platforms": sorted(found.platforms),
        "assumed": isinstance(options.format, AdReport) and bool(options.format.table.provider),
        "question": question,
        "reasons": [[reason, *of] for reason, of in list(found.reasons.items())[:_MAX_REASONS]],
    }


def _as_table(path: Path) -> Path:
    """The file itself; of a spreadsheet the CSV that it holds, which takes its place."""
    if path.suffix.lower() != _SPREADSHEET:
        return path
    table, part = path.with_name(f"{path.name}.csv"), path.with_name(f".{path.name}.csv")
    # Loaded where it is needed: other files are told sooner without it.
    from jobs.importing.files.spreadsheet import to_csv

    try:
        to_csv(path, part, is_known_table, _most_bytes())
        part.rename(table)
    finally:
        part.unlink(missing_ok=True)
    path.unlink()
    return table


def _check_archive(path: Path) -> None:
    """Raises UnreadableFile for an archive that is cut short, or that unpacks to far more than such files
    do."""
    if path.suffix.lower() not in _ARCHIVES:
        return
    unpacked, size = 0, path.stat().st_size
    try:
        for block, position in blocks_of(path):
            unpacked += len(block)
            # A zip is not read from its beginning.
            packed = position if path.suffix.lower() == _ARCHIVES[0] else size
            if unpacked > _SMALL and unpacked > MAX_RATIO * packed:
                raise UnreadableFile(
                    f"it unpacks to more than {MAX_RATIO} times its size, as no export does"
                )
            _check_unpacked(unpacked)
    except DamagedArchive as error:
        raise UnreadableFile(f"{error}; export or upload it again") from None


def _most_bytes() -> int:
    """The bytes to which a file may unpack."""
    return int(settings.UPLOAD_MB.get()) * _UNPACKED * 10**6


def _check_unpacked(size: int) -> None:
    if size > _most_bytes():
        raise UnreadableFile(
            f"it unpacks to more than {_most_bytes() // 10**6} MB, {_UNPACKED} times what a file may have "
            "(UPLOAD_MB); split it"
        )


def _recognised(path: Path, sample: Sample, shop_id: str) -> tuple[Kind, ImportOptions]:
    """The kind of a file, and how it is imported. Raises UnreadableFile."""
    decimal = decimal_of(path.name)
    tables = [{name.strip() for name in record} for record in sample.records] or [set()]
    for columns, words in _NEEDLESS.items():
        if any(columns <= names for names in tables):
            raise UnreadableFile(f"it is {words}")
    if not is_own(sample):
        format = recognised(sample)
        if format is not None:
            _check_kind(format.kind)
            return KINDS[format.kind], ImportOptions(format, shop_id, decimal=decimal)
    fields = {name for kind in KINDS.values() for name in kind.field_names()}
    tables = [{name.lower() for name in names} for names in tables]
    own = max(tables, key=lambda names: len(names & fields)) or set(_parquet_columns(path))
    best = max(KINDS.values(), key=lambda kind: len(own & set(kind.field_names())))
    required = {one.name for one in best.fields if one.required}
    if not required <= own:
        if error := answered_error(sample):
            raise UnreadableFile(f"the other system answered with an error: {error}")
        raise UnreadableFile(
            "it is none of the exports that this service reads, nor a table in its own columns: "
            f"{unrecognised.sentence(sample, _OWN_KINDS)}"
        )
    _check_kind(best.name)
    return best, ImportOptions(decimal=decimal)


def _check_kind(kind: str) -> None:
    if words := _OF_ALL_SHOPS.get(kind):
        raise UnreadableFile(f"it is {words}")


def _parquet_columns(path: Path) -> list[str]:
    if path.suffix.lower() != _PARQUET:
        return []
    import pyarrow.parquet as pq

    try:
        return [name.lower() for name in pq.read_schema(path).names]
    except (pa.ArrowException, OSError) as error:
        raise UnreadableFile("it is no Parquet file, or cut short") from error


def _read(
    path: Path,
    kind: Kind,
    options: ImportOptions,
    shops: ImportedShops,
    hasher: EmailHasher,
    timezone: str,
) -> Found:
    found, unpacked, most_rows = Found(), 0, settings.ROWS_PER_SHOP_DAY.get()
    chunks = readable(path, chunks_of(path, kind, options, shops))
    for columns, rows in checked(kind, chunks, shops, hasher, str(path)):
        _add_rejects(found, kind, columns, shops)
        accepted = rows.filter(pa.array(columns.accepted()))
        found.rows += len(columns.chunk) + len(columns.chunk.broken)
        if found.rows > most_rows:
            raise UnreadableFile(
                f"it has more than {most_rows:,} rows, which is the most that a shop may import in a day "
                "(ROWS_PER_SHOP_DAY); split it"
            )
        if path.suffix.lower() == _PARQUET:
            # Its own statements of sizes are anyone's.
            unpacked += rows.nbytes
            _check_unpacked(unpacked)
        if accepted.num_rows:
            _add_rows(found, kind, accepted, timezone)
        check_time()
    if found.rows == 0:
        raise UnreadableFile("it has no rows")
    if found.rejected == found.rows:
        reason, (number, *_) = next(iter(found.reasons.items()))
        raise UnreadableFile(
            f"none of its {found.rows} rows can be imported; {number} of them: {reason}"
        )
    return found


def _add_rejects(found: Found, kind: Kind, columns: ChunkColumns, shops: ImportedShops) -> None:
    chunk = columns.chunk
    for row, _ in columns.refused():
        if names_another_shop(shops, kind, columns, row):
            raise UnreadableFile(
                f"line {chunk.lines[row]} is of another shop than this one; nothing of the file is imported"
            )
    refused = [(int(chunk.lines[row]), reason.words) for row, reason in columns.refused()]
    for broken in chunk.broken:
        if broken.is_rest:
            raise UnreadableFile(f"from line {broken.line} on it cannot be read: {broken.reason}")
        refused.append((broken.line, broken.reason))
    incomplete = [(int(chunk.lines[row]), reason.words) for row, reason in columns.incomplete()]
    for line, reason in sorted((*refused, *incomplete)):
        count = found.reasons.setdefault(without_values(reason), [0, line])
        count[0] += 1
    found.rejected += len(refused)
    found.incomplete += len(incomplete)


def _add_rows(found: Found, kind: Kind, rows: pa.Table, timezone: str) -> None:
    if name := _TIMES.get(kind.name):
        bounds = pc.min_max(rows[name]).as_py()
        days = [
            bound if name == "day" else local_day(bound, timezone)
            for bound in (bounds["min"], bounds["max"])
        ]
        found.first = days[0] if found.first is None else min(found.first, days[0])
        found.last = days[1] if found.last is None else max(found.last, days[1])
    if kind.name == "orders":
        counted = pc.equal(rows["test"], 0)
        found.minor += pc.sum(rows["gross"].filter(counted)).as_py() or 0
    elif kind.name == "events":
        for one in pc.value_counts(rows["type"]).to_pylist():
            found.types[EVENT_TYPES[one["values"]]] += one["counts"]
    elif kind.name == "ad-spend":
        found.platforms |= set(rows["provider"].unique().to_pylist())
        with localcontext() as context:
            context.prec = _SUM_DIGITS
            for currency, spend in zip(
                rows["currency"].to_pylist(), rows["spend"].to_pylist(), strict=True
            ):
                found.spend[currency] = found.spend.get(currency, Decimal(0)) + Decimal(spend)


def purge_dropped(root: Path, before: float) -> int:
    """Delete the dropped files that were written before this time, whole or not; how many."""
    deleted = 0
    with suppress(FileNotFoundError):
        for shop_id in os.listdir(root / DROPPED_FOLDER):
            for path in dropped_files(root, shop_id):
                with suppress(OSError):
                    if path.lstat().st_mtime < before:
                        path.unlink()
                        deleted += 1
            with suppress(OSError):
                folder(root, shop_id).rmdir()
    return deleted
