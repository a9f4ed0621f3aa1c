"""A file that a member dropped on the Data page: a preview of its import, before anything of it is imported.

The file lies in `IMPORT_DIR/.dropped/SHOP/`, where no import looks. Once its member asks for the import, a
job moves it to the folder that `place` names: from there on it is a landed file like any other.
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
import pyarrow.parquet as pq

from jobs.importing.ceilings import FileCeilings
from jobs.importing.files.byte_blocks import DamagedArchive, blocks_of
from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.files.csv import UnclearTable
from jobs.importing.files.detect import (
    ImportOptions,
    answered_error,
    as_table,
    is_own,
    recognised,
    sample_of,
)
from jobs.importing.formats import unrecognised
from jobs.importing.formats.ads.report import AdReport
from jobs.importing.kept_rejects import names_another_shop
from jobs.importing.kinds import KINDS
from jobs.importing.kinds.base import Kind
from jobs.importing.preview import Preview
from jobs.importing.shops import SHOP_ID, ImportedShops
from jobs.importing.values.notation import UnclearDates
from warehouse import settings
from warehouse.domain.email_hash import EmailHasher
from warehouse.domain.landing_names import DROPPED_FOLDER, OWN, can_be_folder, decimal_of
from warehouse.domain.time import day_date, local_day
from warehouse.domain.vocabulary import EVENT_TYPES

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
# Kinds whose rows are one shop's own.
_OWN_KINDS: Final = [
    kind for kind in KINDS.values() if SHOP_ID in kind.fields and kind.name != "shops"
]
_TIMES: Final = {"events": "occurred_at", "orders": "created_at", "ad-spend": "day"}
_MAX_REASONS: Final = 20
_ARCHIVES: Final = (".gz", ".zip")
_PARQUET: Final = ".parquet"
_SPREADSHEET: Final = ".xlsx"
# Exports are packed twentyfold, zeros a thousandfold.
_MAX_RATIO: Final = 100
# An archive that unpacks to less may be packed as well as it likes.
_SMALL: Final = 64 << 20
# The most bytes that a file unpacks to, for each byte that it may have.
_UNPACKED: Final = 4
_SUM_DIGITS: Final = 100


@dataclass
class Look(Preview):
    """A preview, and what the rows say together. `days`: the first and the last one of each chunk; `minor`:
    the total of orders; `spend`: by currency, in major units; `types`: of events."""

    timezone: str = ""
    days: list[int] = field(default_factory=list)
    minor: int = 0
    spend: dict[str, Decimal] = field(default_factory=dict)
    types: Counter[str] = field(default_factory=Counter)
    platforms: set[str] = field(default_factory=set)

    def read(
        self,
        kind: Kind,
        path: Path,
        options: ImportOptions,
        shops: ImportedShops,
        hasher: EmailHasher,
    ) -> None:
        """Add a file, to its end. Raises UnreadableFile for one that cannot be imported."""
        most_rows, counts, size = settings.ROWS_PER_SHOP_DAY.get(), self.counts, 0
        for columns, rows in self.steps(kind, path, str(path), options, shops, hasher):
            for row, _ in columns.refused():
                if names_another_shop(shops, kind, columns, row):
                    raise UnreadableFile(
                        f"line {columns.chunk.lines[row]} is of another shop than this one; nothing of the "
                        "file is imported"
                    )
            for broken in columns.chunk.broken:
                if broken.is_rest:
                    raise UnreadableFile(
                        f"from line {broken.line} on it cannot be read: {broken.reason}"
                    )
            if counts.read > most_rows:
                raise UnreadableFile(
                    f"it has more than {most_rows:,} rows, which is the most that a shop may import in a day "
                    "(ROWS_PER_SHOP_DAY); split it"
                )
            if path.suffix.lower() == _PARQUET:
                # Its own statements of sizes are anyone's.
                size += rows.nbytes
                _check_unpacked(size)
            accepted = rows.filter(pa.array(columns.accepted()))
            if accepted.num_rows:
                self._add_content(kind.name, accepted)
        if counts.read == 0:
            raise UnreadableFile("it has no rows")
        if counts.rejected == counts.read:
            reason, (number, *_) = next(iter(self.reasons.items()))
            raise UnreadableFile(
                f"none of its {counts.read} rows can be imported; {number} of them: {reason}"
            )

    def _add_content(self, kind: str, rows: pa.Table) -> None:
        if name := _TIMES.get(kind):
            bounds = pc.min_max(rows[name]).as_py().values()
            self.days += [
                bound if name == "day" else local_day(bound, self.timezone) for bound in bounds
            ]
        if kind == "orders":
            counted = pc.equal(rows["test"], 0)
            self.minor += pc.sum(rows["gross"].filter(counted)).as_py() or 0
        elif kind == "events":
            for one in pc.value_counts(rows["type"]).to_pylist():
                self.types[EVENT_TYPES[one["values"]]] += one["counts"]
        elif kind == "ad-spend":
            self.platforms |= set(rows["provider"].unique().to_pylist())
            with localcontext() as context:
                context.prec = _SUM_DIGITS
                for currency, spend in zip(
                    rows["currency"].to_pylist(), rows["spend"].to_pylist(), strict=True
                ):
                    self.spend[currency] = self.spend.get(currency, Decimal(0)) + Decimal(spend)


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
) -> dict[str, Any]:
    """Preview the import of a file: `title`, `kind`, `place` (the folders below the landing folder), and what
    `Look` tells; of ad spend also whether the program `assumed` the platform. Where its member must say the
    decimal mark, `question` has a cell of the column, and what it is with each mark. Raises UnreadableFile
    with a sentence for its member."""
    # Rows of other shops, and of none, are refused alike: nobody learns which shops there are.
    own = shops.narrowed(shop_id)
    with FileCeilings(path).portion():
        if path.suffix.lower() == _SPREADSHEET:
            path = as_table(path)
            _check_unpacked(path.stat().st_size)
        if path.suffix.lower() in _ARCHIVES:
            _check_archive(path)
        kind, options = _recognised(path, shop_id)
        if words := _OF_ALL_SHOPS.get(kind.name):
            raise UnreadableFile(f"it is {words}")
        look, question = Look(timezone=timezone), None
        try:
            look.read(kind, path, options, own, hasher)
        except UnclearTable as error:
            look, cause = Look(), error.cause
            if isinstance(cause, UnclearDates):
                raise UnreadableFile(
                    f"{cause.found}; write its dates as 2026-01-31, by the settings of the export or in the "
                    "spreadsheet, and drop the file again"
                ) from None
            question = {"column": cause.column, "cell": cause.cell, **cause.readings}
    format, counts = options.format, look.counts
    own_title = f"{kind.name.replace('-', ' ').capitalize()}, in this service's own columns"
    days = [day_date(day).isoformat() for day in sorted(look.days)] or [""]
    return {
        "title": format.title if format else own_title,
        "kind": kind.name,
        "place": [kind.name, format.name if format else OWN, shop_id],
        "rows": counts.read,
        "rejected": counts.rejected,
        "incomplete": counts.incomplete,
        "first": days[0],
        "last": days[-1],
        "minor": look.minor if kind.name == "orders" else None,
        "spend": {currency: f"{amount:f}" for currency, amount in sorted(look.spend.items())},
        "types": dict(look.types),
        "platforms": sorted(look.platforms),
        "reasons": [[reason, *of] for reason, of in list(look.reasons.items())[:_MAX_REASONS]],
        "assumed": isinstance(format, AdReport) and bool(format.table.provider),
        "question": question,
    }


def _check_archive(path: Path) -> None:
    """Raise UnreadableFile for an archive that is cut short, or that unpacks to far more than such files
    do."""
    size, most = 0, max(_SMALL, path.stat().st_size * _MAX_RATIO)
    try:
        for block, _ in blocks_of(path):
            size += len(block)
            if size > most:
                raise UnreadableFile(
                    f"it unpacks to more than {_MAX_RATIO} times its size, as no export does"
                )
            _check_unpacked(size)
    except DamagedArchive as damage:
        raise UnreadableFile(f"{damage}; export or upload it again") from None


def _check_unpacked(size: int) -> None:
    most = int(settings.UPLOAD_MB.get()) * _UNPACKED
    if size > most * 10**6:
        raise UnreadableFile(
            f"it unpacks to more than {most} MB, {_UNPACKED} times what a file may have (UPLOAD_MB); split it"
        )


def _recognised(path: Path, shop_id: str) -> tuple[Kind, ImportOptions]:
    """The kind of a file, and how it is imported. Raises UnreadableFile."""
    sample = sample_of(path)
    decimal = decimal_of(path.name)
    tables = [{name.strip() for name in record} for record in sample.records] or [set()]
    for columns, words in _NEEDLESS.items():
        if any(columns <= names for names in tables):
            raise UnreadableFile(f"it is {words}")
    if not is_own(sample):
        format = recognised(sample)
        if format is not None:
            return KINDS[format.kind], ImportOptions(format, shop_id, decimal=decimal)
    fields = {name for kind in KINDS.values() for name in kind.field_names()}
    tables = [{name.lower() for name in names} for names in tables]
    own = max(tables, key=lambda names: len(names & fields))
    if not own and path.suffix.lower() == _PARQUET:
        try:
            own = {name.lower() for name in pq.read_schema(path).names}
        except (pa.ArrowException, OSError) as error:
            raise UnreadableFile("it is no Parquet file, or cut short") from error
    best = max(KINDS.values(), key=lambda kind: len(own & set(kind.field_names())))
    required = {one.name for one in best.fields if one.required}
    if not required <= own:
        if said := answered_error(sample):
            raise UnreadableFile(f"the other system answered with an error: {said}")
        raise UnreadableFile(
            "it is none of the exports that this service reads, nor a table in its own columns: "
            f"{unrecognised.sentence(sample, _OWN_KINDS)}"
        )
    return best, ImportOptions(decimal=decimal)


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
