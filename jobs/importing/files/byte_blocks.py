"""The bytes of a file, unpacked, in blocks or as lines: compressed or not, whole or cut short."""

import codecs
import gzip
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from jobs.importing.ceilings import check_time, lines_read
from jobs.importing.files.chunk import (
    CHUNK_BYTES,
    MAX_LINE_BYTES,
    BrokenLine,
    UnreadableFile,
)

# The methods that unpack as much at a time as is asked for: the others can fill the memory.
_ZIP_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ZIP_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    struct.error,
    ValueError,
)

# Bytes by which UTF-16 is told, an even number.
_SNIFFED: Final = 64
# Bytes in which the end of the first line is.
_HEAD: Final = 64 << 10
_QUOTED: Final = re.compile(rb'"[^"]*"')
# Entries of an archive that nobody packed.
_OF_A_MAC: Final = "__MACOSX"
_OF_SYSTEMS: Final = ("thumbs.db", "desktop.ini")

_BOM: Final = b"\xef\xbb\xbf"
# Values of JSON in one line, about: each takes up to a hundred times its bytes in memory.
_MAX_VALUES: Final = 1_000_000
TOO_MANY: Final = "the line has more than a million values"
TOO_LONG: Final = f"the line is longer than {MAX_LINE_BYTES >> 20} MiB"


class DamagedArchive(Exception):
    """The rest of an archive cannot be read; the message says why."""


class Lines(NamedTuple):
    """Consecutive lines without their line feeds; `first` is the number of the first.

    A line that is too long, or has too many values, is in `broken`, and empty in `lines`. `lost` is the
    unreadable rest of a damaged archive. `part`: the number, from 0, of the file of an archive in which they
    are.
    """

    first: int
    lines: list[bytes]
    broken: list[BrokenLine]
    position: int
    lost: BrokenLine | None = None
    part: int = 0


def lines_of(path: Path) -> Iterator[Lines]:
    """The lines of a file, some megabytes at a time. Raises OSError."""
    number = 1
    for part, blocks in enumerate(parts_of(path)):
        for lines in _lines(blocks, number):
            yield lines._replace(part=part)
            number = lines.first + len(lines.lines)


def blocks_of(path: Path) -> Iterator[tuple[bytes, int]]:
    """(block, bytes of the file read so far) for each block of a file; `.gz` and `.zip` are unpacked.

    Raises OSError, UnreadableFile if a `.zip` is no such archive, and DamagedArchive at the point from
    which an archive cannot be read."""
    return chain.from_iterable(parts_of(path))


def head_of(path: Path) -> bytes:
    """The first block of a file; b"" where it is empty, or an archive that is damaged from its beginning on.
    Raises OSError and UnreadableFile."""
    try:
        return next(blocks_of(path), (b"", 0))[0]
    except DamagedArchive:
        return b""


def begins_json(head: bytes) -> bool:
    """Whether a text that begins like this is JSON, and not a table."""
    return head.lstrip()[:1] in (b"{", b"[")


def parts_of(path: Path) -> Iterator[Iterator[tuple[bytes, int]]]:
    """The blocks of each file of an archive, one file after the other (see `blocks_of`); any other file is
    one part."""
    with path.open("rb") as file:
        suffix = path.suffix.lower()
        if suffix == ".zip":
            parts = _unzipped(file, path)
        else:
            parts = iter([_as_text(_inflated(file) if suffix == ".gz" else _blocks(file.read))])
        for blocks in parts:
            yield _counted(file, blocks)


def _counted(file: BinaryIO, blocks: Iterator[bytes]) -> Iterator[tuple[bytes, int]]:
    for block in blocks:
        check_time()
        lines_read(block.count(b"\n"))
        yield block, file.tell()


def _as_text(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The blocks of a text as UTF-8 without a byte order mark, with line feeds: UTF-16, with halves of
    surrogate pairs escaped, and the line ends of old Macs, which their programs still write."""
    texts = _as_utf8(blocks)
    first = next(texts, b"").removeprefix(_BOM)
    # Whether the first line ends in a carriage return alone. Quotation marks hold lines of their own.
    plain = _QUOTED.sub(b"", first[:_HEAD])
    ended, line_feed = plain.find(b"\r"), plain.find(b"\n")
    has_returns = ended >= 0 and line_feed != ended + 1 and not 0 <= line_feed < ended
    for block in chain([first], texts):
        yield block.replace(b"\r", b"\n") if has_returns else block


def _as_utf8(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """UTF-16, told by its byte order mark or by letters of ASCII, as UTF-8; any other text as it is."""
    first = next(blocks, b"")
    head, encoding = first[:_SNIFFED], ""
    even, odd = head[::2], head[1::2]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif len(head) >= 4 and head.count(0) == len(head) // 2:
        encoding = "utf-16-be" if not any(even) else "utf-16-le" if not any(odd) else ""
    if not encoding:
        yield first
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
    for block in chain([first], blocks):
        yield decoder.decode(block).encode("utf-8", "backslashreplace")
    if decoder.getstate()[0]:
        yield b"\x81"  # half a letter: no letter of UTF-8, nor of Windows-1252


def _blocks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    return iter(partial(read, CHUNK_BYTES // 4), b"")


def _unzipped(file: BinaryIO, path: Path) -> Iterator[Iterator[bytes]]:
    """The blocks of the files in a zip archive, which are the parts of one export, in the order of their
    names. Raises UnreadableFile, also if it is damaged."""

    def by_number(entry: zipfile.ZipInfo) -> list[tuple[int, str]]:
        """The name, by which part 10 comes after part 9."""
        pieces = re.split(r"(\d{1,9})", entry.filename)
        return [(int(piece) if piece.isdecimal() else -1, piece) for piece in pieces]

    try:
        archive = zipfile.ZipFile(file)
        entries = sorted(filter(_is_visible, archive.infolist()), key=by_number)
    except _ZIP_ERRORS as error:
        raise _no_zip(path, error) from error
    if not entries:
        raise UnreadableFile(f"{path}: the zip has no file")
    # An empty file is a part of neither kind.
    entries = [entry for entry in entries if entry.file_size] or entries[:1]
    if any(entry.compress_type not in _ZIP_METHODS for entry in entries):
        raise UnreadableFile(
            f"{path}: the zip is compressed by another method than deflate; "
            "unpack it, or pack it anew"
        )
    are_json = None
    for entry in entries:
        blocks = _as_text(_extracted(archive, entry, path))
        first = next(blocks)
        is_json = begins_json(first)
        are_json = is_json if are_json is None else are_json
        if is_json != are_json:
            names = " and ".join(repr(one.filename[:_SNIFFED]) for one in (entries[0], entry))
            raise UnreadableFile(
                f"{path}: the zip has files of several kinds, such as {names}; unpack it, and import each by "
                "itself"
            )
        yield chain([first], blocks)


def _extracted(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path) -> Iterator[bytes]:
    try:
        with archive.open(entry) as inner:
            yield from _blocks(inner.read)
    except _ZIP_ERRORS as error:
        raise _no_zip(path, error) from error


def _no_zip(path: Path, error: Exception) -> UnreadableFile:
    return UnreadableFile(f"{path}: not readable as a zip archive ({error})")


def _is_visible(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry is a file that somebody packed, and not one that a Mac or Windows added."""
    *folders, name = entry.filename.split("/")
    is_hidden = name.startswith(".") or name.lower() in _OF_SYSTEMS or _OF_A_MAC in folders
    return not entry.is_dir() and not is_hidden


def _inflated(file: BinaryIO) -> Iterator[bytes]:
    """The blocks of a gzip file of one or more members, up to its damage (raises DamagedArchive)."""
    try:
        yield from _blocks(gzip.GzipFile(fileobj=file).read1)
    except EOFError:
        raise DamagedArchive("the archive is truncated") from None
    except (OSError, zlib.error) as error:
        raise DamagedArchive(f"the archive is damaged ({error})") from error


def _lines(blocks: Iterator[tuple[bytes, int]], number: int) -> Iterator[Lines]:
    parts: list[bytes] = []
    size, skipping, position = 0, False, 0
    broken: list[BrokenLine] = []
    lost = ""
    try:
        for block, position in blocks:
            parts.append(block)
            size += len(block)
            if size < CHUNK_BYTES:
                continue
            data = b"".join(parts)
            cut = data.rfind(b"\n") + 1
            if cut:
                ready = data[: cut - 1].split(b"\n")
                if skipping:
                    ready[0], skipping = b"", False
                _drop_too_long(number, ready, broken)
                yield Lines(number, ready, broken, position)
                number, broken = number + len(ready), []
            data = data[cut:]
            if skipping or len(data) > MAX_LINE_BYTES:
                if not skipping:
                    broken.append(BrokenLine(number, TOO_LONG))
                skipping, data = True, b""
            parts, size = [data], len(data)
    except DamagedArchive as error:
        lost = f"{error}: the rest is unreadable"
    ready = b"".join(parts).split(b"\n")
    if skipping:
        ready[0] = b""
    # The last line of a damaged archive is cut short.
    if lost or not ready[-1]:
        ready.pop()
    rest = BrokenLine(number + len(ready), lost, is_rest=True) if lost else None
    _drop_too_long(number, ready, broken)
    yield Lines(number, ready, broken, position, rest)


def _drop_too_long(first: int, lines: list[bytes], broken: list[BrokenLine]) -> None:
    if max(map(len, lines), default=0) < min(_MAX_VALUES, MAX_LINE_BYTES):
        return
    for index, line in enumerate(lines):
        why = TOO_LONG if len(line) > MAX_LINE_BYTES else ""
        if not why and len(line) >= _MAX_VALUES and sum(map(line.count, b",[{")) > _MAX_VALUES:
            why = TOO_MANY
        if why:
            broken.append(BrokenLine(first + index, why))
            lines[index] = b""
