"""Detection of a file: its format, by its name or by how it begins, and the chunks of rows that it holds."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from jobs.importing.files import csv, ndjson, parquet, spreadsheet
from jobs.importing.files.byte_blocks import begins_json, head_of
from jobs.importing.files.chunk import (
    CHUNK_BYTES,
    BrokenLine,
    Chunk,
    UnreadableFile,
    WantedColumns,
    listed,
)
from jobs.importing.files.json import DECODE, UNDECODABLE, json_values
from jobs.importing.files.spreadsheet import is_spreadsheet
from jobs.importing.formats import FORMATS, unrecognised
from jobs.importing.formats.base import EXPORTED_AT, Format, Sample, Target, encode
from jobs.importing.kinds.base import Kind
from jobs.importing.shops import ImportedShops
from jobs.importing.values.errors import InvalidValue, quoted
from jobs.importing.values.notation import Reading
from jobs.importing.values.times import recent_instant
from warehouse.domain.time import from_micros

_SAMPLE_BYTES: Final = 64 << 10
_SAMPLE_RECORDS: Final = 20
# The members in which systems say what went wrong, and characters of it that are quoted. Every answer of
# TikTok has a message; that of an error has a code that is not 0.
_ERRORS: Final = ("errors", "error", "message")
_QUOTED: Final = 300
_GZIP_MAGIC: Final = b"\x1f\x8b"  # RFC 1952
# How the files of spreadsheets begin; the first is also that of a zip.
_SPREADSHEET_MAGIC: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_PAGE: Final = re.compile(rb"\s*<(?:!doctype\s+html|html)\b", re.I)
# The title of a page is among its first bytes. A pattern for page and title together would look through them
# once for each `<title>`.
_TITLE: Final = re.compile(rb"<title>([^<]*)", re.I)
_TITLE_BYTES: Final = 16 << 10

Reader = Callable[[Path, WantedColumns], Iterator[Chunk]]

_READERS: Final[dict[str, Reader]] = {
    ".ndjson": ndjson.chunks,
    ".jsonl": ndjson.chunks,
    ".csv": csv.chunks,
    ".parquet": parquet.chunks,
    ".xlsx": csv.chunks,
}


class NoSuchShop(UnreadableFile):
    """No shop has the id that was named. `shops`: those that exist. They are for the operator alone, and
    in no message: who puts a file into the landing folder may read its report."""

    def __init__(self, message: str, shops: ImportedShops) -> None:
        super().__init__(message)
        self.shops = sorted(shops.keys)


class ShopNotNamed(NoSuchShop):
    """The file does not name its shop, and the warehouse has several."""


@dataclass(frozen=True)
class ImportOptions:
    """The options of an import besides the kind of file: its format, if it is another system's, the shop it
    belongs to, and the order of a date's parts and the decimal mark of a table (see `values/notation`)."""

    format: Format | None = None
    shop_id: str | None = None
    dates: str = ""
    decimal: str = ""
    # The instant at which an export without versions was made.
    exported_at: int | None = None
    # When the file came, where that counts as its time.
    came_at: int | None = None

    @property
    def reading(self) -> Reading:
        return Reading(self.dates, self.decimal)


NO_OPTIONS: Final = ImportOptions()


def chunks_of(
    path: Path, kind: Kind, options: ImportOptions, shops: ImportedShops
) -> Iterator[Chunk]:
    """The chunks of a file.

    Raises UnreadableFile at once if the file cannot be read at all or is of another format or kind;
    later also OSError.
    """
    sample = _sample(path)
    of_person = path
    if sample.head.startswith(_SPREADSHEET_MAGIC[0]) and is_spreadsheet(path):
        path = as_table(path, options.format)
        sample = _sample(path)
    if error := answered_error(sample):
        raise UnreadableFile(f"{path}: the other system answered with an error: {error}")
    if sample.head.startswith(_SPREADSHEET_MAGIC):
        raise UnreadableFile(
            f"{path}: its content is a spreadsheet or an archive; save a spreadsheet as .xlsx or CSV, or "
            "unpack it"
        )
    if _PAGE.match(sample.head):
        title_of = _TITLE.search(sample.head, 0, _TITLE_BYTES)
        title = " ".join((title_of[1] if title_of else b"").decode("utf-8", "replace").split())
        raise UnreadableFile(
            f"{path}: its content is a web page with the title {quoted(title)}, perhaps of an error or a "
            "sign-in; fetch the file again"
        )
    required = [field.name for field in kind.fields if field.required]
    # A row of this program may have a list in a member of another system's name.
    if sample.is_empty_page and not any(f'"{name}"'.encode() in sample.head for name in required):
        return iter(())
    format = format_of(path, kind, options.format, sample)
    if format is None:
        return _own_chunks(path, kind, options, sample, required)
    target = target_of(path, format, options.shop_id, shops)
    at = ""
    if not format.dated_by_file:
        _refuse_exported_at(path, options, f"those of {format.name} have versions of their own")
    elif options.exported_at is not None:
        at = from_micros(options.exported_at).isoformat()
    else:
        came_at = options.came_at
        came_at = of_person.stat().st_mtime_ns // 1000 if came_at is None else came_at
        at = from_micros(came_at).isoformat()
        try:
            recent_instant(at)
        except InvalidValue as cause:
            raise UnreadableFile(
                f"{of_person}: the time of the file tells which of two exports is the later one, and "
                f"{cause}: say when it was exported with --exported-at"
            ) from None
    return _mapped(path, kind, format, target, options.reading, at)


def _own_chunks(
    path: Path, kind: Kind, options: ImportOptions, sample: Sample, required: list[str]
) -> Iterator[Chunk]:
    """The chunks of a file with rows of this program. Raises UnreadableFile at once, with advice on a file
    that another system wrote."""
    own, advice, content = is_own(sample), "", ""
    names = [format.name for format in FORMATS.values() if format.kind == kind.name]
    if names and not own:
        advice = (
            f". If another system wrote it, name its format: --format {_one_of(names)} "
            f"(in the landing folder: {kind.name}/FORMAT/)"
        )
    if not sample.head:
        content = ". It is empty or damaged"
    elif not own and begins_json(sample.head):
        content = ". Its JSON is broken or cut short"
        if sample.records:
            members = ", ".join(listed(list(sample.records[0])))
            content = f". Its JSON is of no known system: it has {members}"
    reader = _reader_of(path, sample, content + advice)
    if reader is csv.chunks and sample.is_table and sample.lines and not own:
        raise UnreadableFile(f"{path}: {unrecognised.sentence(sample, [kind])}{advice}")
    _refuse_exported_at(path, options, "rows of this program name it in exported_at")
    if options.shop_id is not None:
        raise UnreadableFile(
            f"{path}: --shop is for exports of other systems; rows of this program name their "
            f"shop in shop_id{advice}"
        )
    wanted = WantedColumns(
        kind.field_names(),
        required,
        kind.notation_of,
        options.reading,
        keeps_others=kind.keeps_others,
        advice=advice,
    )
    return reader(path, wanted)


def _mapped(
    path: Path, kind: Kind, format: Format, target: Target, reading: Reading, at: str
) -> Iterator[Chunk]:
    """The chunks of another system's file. `at`: the time of the file, where its records have that."""
    for part in format.records(path, reading):
        for _, record in part.numbered if at else ():
            record[EXPORTED_AT] = at
        yield format.chunk(kind, target, part)


def _refuse_exported_at(path: Path, options: ImportOptions, because: str) -> None:
    if options.exported_at is not None:
        names = [format.name for format in FORMATS.values() if format.dated_by_file]
        raise UnreadableFile(f"{path}: --exported-at is for files of {_one_of(names)}; {because}")


def _one_of(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def _reader_of(path: Path, sample: Sample, advice: str) -> Reader:
    """The reader for a file's extension, or for what is in a `.zip`. Raises UnreadableFile if there is
    none, or a `.gz` is no gzip file."""
    name = path.name.lower()
    plain = name.removesuffix(".gz")
    if name.endswith(".zip"):
        return csv.chunks if sample.is_table else ndjson.chunks
    reader = _READERS.get(Path(plain).suffix)
    if reader is None or (reader is parquet.chunks and plain != name):
        raise UnreadableFile(
            f"{path}: unknown extension; name it .ndjson or .jsonl (a row on each line), .csv (each also "
            f"with .gz), .xlsx or .parquet{advice}"
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
            raise ShopNotNamed(
                f"{unnamed}, and there are {len(shops.keys)}: name it with --shop ID "
                f"(in the landing folder: {format.kind}/{format.name}/ID/)",
                shops,
            )
        shop_id = next(iter(shops.keys))
    if shop_id not in shops.keys:
        raise NoSuchShop(f"{path}: no shop {shop_id!r}; import it first (kind shops)", shops)
    return Target(shop_id, shops.currencies[shops.keys[shop_id]])


def format_of(path: Path, kind: Kind, named: Format | None, sample: Sample) -> Format | None:
    """The format to read a file with, None for rows of this program.

    Raises UnreadableFile if the file unmistakably is something else than the kind or than the `named`
    format.
    """
    own = is_own(sample)
    format = None if own else recognised(sample)
    expected = kind.name if named is None else named.name
    if format is not None and (format.kind != kind.name if named is None else format is not named):
        raise UnreadableFile(
            f"{path}: looks like {format.name} ({format.kind}), not like {expected}; import it as "
            f"{format.kind}, without --format or with --format {format.name} (in the landing folder: "
            f"{format.kind}/{format.name}/)"
        )
    if own and named is not None:
        raise UnreadableFile(
            f"{path}: looks like rows of this program, not like {expected}; import it without --format "
            f"and --shop (in the landing folder: {kind.name}/)"
        )
    return named or format


def as_table(path: Path, named: Format | None = None) -> Path:
    """A spreadsheet as a path at which there is a table (see `spreadsheet`)."""
    return spreadsheet.as_table(path, partial(is_known_table, named=named))


def is_known_table(head: bytes, named: Format | None = None) -> bool:
    """Whether a text is the beginning of a table of this program or of a format."""
    sample = _of_table(head)
    return named.matches(sample) if named else is_own(sample) or recognised(sample) is not None


def _sample(path: Path) -> Sample:
    """The beginning of a file. Raises UnreadableFile if it does not exist."""
    try:
        return sample_of(path)
    except OSError as error:
        raise UnreadableFile(f"{path}: {error.strerror or error}") from error


def answered_error(sample: Sample) -> str:
    """The error, quoted, that a system answered with in place of rows or beside them; "" for rows."""
    if not any(f'"{name}"'.encode() in sample.head for name in _ERRORS):
        return ""
    try:
        answer = DECODE(sample.head)
    except UNDECODABLE:
        return ""
    answer = answer[0] if isinstance(answer, list) and answer else answer
    if not isinstance(answer, dict):
        return ""
    *members, message = map(answer.get, _ERRORS)
    error = next(filter(None, members), answer.get("code") and message)
    itself = Sample(sample.head, [answer])
    if not error or is_own(itself) or any(f.matches(itself) for f in FORMATS.values()):
        return ""
    error = error[0] if isinstance(error, list) else error
    error = error.get("message", error) if isinstance(error, dict) else error
    return quoted(error if isinstance(error, str) else encode(error), _QUOTED)


def recognised(sample: Sample) -> Format | None:
    """The format of which a file unmistakably is."""
    formats = (one for one in FORMATS.values() if one.reads_tables or not sample.is_table)
    return next((one for one in formats if one.matches(sample)), None)


def is_own(sample: Sample) -> bool:
    """Whether a file has rows of this program: records of other systems have no `shop_id`, and call
    their rates otherwise."""
    looked_at = sample.records if sample.is_table else sample.records[:1]
    names = ({name.strip().lower() for name in record} for record in looked_at)
    return any("shop_id" in some or {"base", "quote", "rate"} <= some for some in names)


def sample_of(path: Path) -> Sample:
    """The beginning of a file. Raises OSError."""
    head = head_of(path)
    if begins_json(head):
        records, is_empty = [], True
        members = [name for format in FORMATS.values() for name in format.list_members]
        for value in islice(json_values(path, members), _SAMPLE_RECORDS):
            is_empty = False
            if not isinstance(value.record, BrokenLine):
                records.append(value.record)
            if value.size > CHUNK_BYTES:
                break
        return Sample(head, records, is_empty)
    return _of_table(head)


def _of_table(head: bytes) -> Sample:
    lines = csv.first_lines(head[:_SAMPLE_BYTES])
    records = [{name: name for name in names} for _, _, names in csv.possible_headers(lines)]
    return Sample(head, records, is_table=True, lines=lines)
