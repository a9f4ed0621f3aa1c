"""Detection of a file: its format, by its name or by how it begins, and the chunks of rows that it holds."""

import csv as csv_module
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from jobs.importing.files import csv, ndjson, parquet
from jobs.importing.files.byte_blocks import BOM, DamagedArchive, blocks_of
from jobs.importing.files.chunk import CHUNK_BYTES, Chunk, UnreadableFile, WantedColumns
from jobs.importing.formats import FORMATS, mapping
from jobs.importing.formats.base import Format, Record, Sample, Target
from jobs.importing.formats.json_stream import json_values
from jobs.importing.kinds.base import Kind
from jobs.importing.shops import ImportedShops

_SAMPLE_BYTES: Final = 64 << 10
_SAMPLE_RECORDS: Final = 20
_GZIP_MAGIC: Final = b"\x1f\x8b"  # RFC 1952

Reader = Callable[[Path, WantedColumns], Iterator[Chunk]]

_READERS: Final[dict[str, Reader]] = {
    ".ndjson": ndjson.chunks,
    ".jsonl": ndjson.chunks,
    ".csv": csv.chunks,
    ".parquet": parquet.chunks,
}


class ShopNotNamed(UnreadableFile):
    """The file does not name its shop, and the warehouse has several."""


@dataclass(frozen=True)
class ImportOptions:
    """The options of an import besides the kind of file: its format, if it is another system's, the shop
    it belongs to, and the order of a date's parts in a CSV file (see `values/notation`)."""

    format: Format | None = None
    shop_id: str | None = None
    dates: str = ""


NO_OPTIONS: Final = ImportOptions()


def chunks_of(
    path: Path, kind: Kind, options: ImportOptions, shops: ImportedShops
) -> Iterator[Chunk]:
    """The chunks of a file.

    Raises UnreadableFile at once if the file cannot be read at all or is of another format or kind;
    later also OSError.
    """
    format = format_of(path, kind, options.format)
    if format is None:
        reader = _reader_of(path)
        if options.shop_id is not None:
            raise UnreadableFile(
                f"{path}: --shop is for exports of other systems; rows of this program name their "
                "shop in shop_id"
            )
        required = [field.name for field in kind.fields if field.required]
        wanted = WantedColumns(
            kind.field_names(),
            required,
            kind.free_text(),
            kind.notation_of,
            options.dates,
        )
        return reader(path, wanted)
    target = target_of(path, format, options.shop_id, shops)
    return mapping.chunks(format, kind, target, format.records(path, options.dates))


def is_textual(file: str) -> bool:
    """Whether a file of this name writes numbers as text (see `Chunk.textual`)."""
    return not file.lower().removesuffix(".gz").endswith((".ndjson", ".jsonl"))


def _reader_of(path: Path) -> Reader:
    """The reader for a file's extension. Raises UnreadableFile if there is none, or a `.gz` is no
    gzip file."""
    name = path.name.lower()
    plain = name.removesuffix(".gz")
    reader = _READERS.get(Path(plain).suffix)
    if reader is None or (reader is parquet.chunks and plain != name):
        raise UnreadableFile(
            f"{path}: unknown extension; name it .ndjson, .jsonl, .csv (each also with .gz) or "
            ".parquet. It does not look like the export of another system"
        )
    if plain != name:
        with path.open("rb") as file:
            magic = file.read(len(_GZIP_MAGIC))
        if magic != _GZIP_MAGIC:
            empty = "" if magic else "empty, so "
            raise UnreadableFile(f"{path}: {empty}not a gzip file")
    return reader


def target_of(path: Path, format: Format, shop_id: str | None, shops: ImportedShops) -> Target:
    """The shop of a file's records: the one named, or the only one. Raises UnreadableFile."""
    if not format.needs_shop:
        return Target()
    if shop_id is None:
        unnamed = f"{path}: files of {format.name} do not name their shop"
        if not shops.keys:
            raise UnreadableFile(f"{unnamed}, and there is none: import it first (kind shops)")
        if len(shops.keys) > 1:
            raise ShopNotNamed(f"{unnamed}, and there are {len(shops.keys)}: name it")
        shop_id = next(iter(shops.keys))
    if shop_id not in shops.keys:
        raise UnreadableFile(f"{path}: no shop {shop_id!r}; import it first (kind shops)")
    return Target(shop_id, shops.currencies[shops.keys[shop_id]])


def format_of(path: Path, kind: Kind, named: Format | None) -> Format | None:
    """The format to read a file with, None for rows of this program.

    Raises UnreadableFile if the file unmistakably is something else than the kind or than the `named`
    format, or does not exist.
    """
    try:
        members = [name for format in FORMATS.values() for name in format.list_members]
        sample = sample_of(path, members)
    except OSError as error:
        raise UnreadableFile(f"{path}: {error.strerror or error}") from error
    own = is_own(sample)
    format = None if own else next((f for f in FORMATS.values() if f.matches(sample)), None)
    expected = kind.name if named is None else named.name
    if format is not None and (format.kind != kind.name if named is None else format is not named):
        raise UnreadableFile(
            f"{path}: looks like {format.name} ({format.kind}), not like {expected}"
        )
    if own and named is not None:
        raise UnreadableFile(f"{path}: looks like rows of this program, not like {expected}")
    return named or format


def is_own(sample: Sample) -> bool:
    """Whether a file has rows of this program: records of other systems have no `shop_id`, and call
    their rates otherwise."""
    first = sample.records[0] if sample.records else {}
    names = {name.strip().lower() for name in first}
    return "shop_id" in names or {"base", "quote", "rate"} <= names


def sample_of(path: Path, list_members: Sequence[str]) -> Sample:
    """The beginning of a file; `list_members` as for `json_records`. Raises OSError."""
    try:
        head = next(blocks_of(path), (b"", 0))[0][:_SAMPLE_BYTES]
    except DamagedArchive:
        head = b""
    text = head.removeprefix(BOM).lstrip()
    if text[:1] in (b"{", b"["):
        records = []
        for value in islice(json_values(path, list_members), _SAMPLE_RECORDS):
            if value.record is not None:
                records.append(value.record)
            if value.size > CHUNK_BYTES:
                break
        return Sample(head, records)
    return Sample(head, _first_of_table(text))


def _first_of_table(text: bytes) -> list[Record]:
    """The first record of a CSV file, as texts by the names of its header."""
    if b"\0" in text:
        return []
    lines = text.decode("utf-8", "replace").splitlines(keepends=True)
    separator = csv.separator_of(lines[0], ()) if lines else ","
    try:
        header, *first = islice(csv_module.reader(lines, delimiter=separator), 2)
    except (csv_module.Error, ValueError):
        return []
    cells = first[0] if first else []
    return [dict(zip(header, cells + [""] * len(header), strict=False))]
