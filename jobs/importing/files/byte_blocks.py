"""The bytes of a file, unpacked, in blocks or as lines: compressed or not, whole or cut short."""

import codecs
import gzip
import struct
import zipfile
import zlib
from collections.abc import Iterator
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

BOM: Final = b"\xef\xbb\xbf"
# Values of JSON in one line, about: each takes up to a hundred times its bytes in memory.
_MAX_VALUES: Final = 1_000_000
TOO_MANY: Final = "the line has more than a million values"
TOO_LONG: Final = f"the line is longer than {MAX_LINE_BYTES >> 20} MiB"


class DamagedArchive(Exception):
    """The rest of an archive cannot be read; the message says why."""


class Lines(NamedTuple):
    """Consecutive lines without their line feeds; `first` is the number of the first.

    A line that is too long, or has too many values, is in `broken`, and empty in `lines`. `lost` is the
    unreadable rest of a damaged archive.
    """

    first: int
    lines: list[bytes]
    broken: list[BrokenLine]
    position: int
    lost: BrokenLine | None = None


def lines_of(path: Path) -> Iterator[Lines]:
    """All lines of a file, some megabytes at a time. Raises OSError."""
    with path.open("rb") as file:
        yield from _lines(file, _blocks(file, path))


def blocks_of(path: Path) -> Iterator[tuple[bytes, int]]:
    """(block, bytes of the file read so far) for each block of a file; `.gz` and `.zip` are unpacked.

    Raises OSError, UnreadableFile if a `.zip` is no such archive, and DamagedArchive at the point from
    which an archive cannot be read."""
    with path.open("rb") as file:
        for block in _blocks(file, path):
            check_time()
            lines_read(block.count(b"\n"))
            yield block, file.tell()


def _blocks(file: BinaryIO, path: Path) -> Iterator[bytes]:
    suffix = path.suffix.lower()
    if suffix == ".zip":
        return _as_utf8(_unzipped(file, path))
    return _as_utf8(_inflated(file) if suffix == ".gz" else _plain(file))


def _as_utf8(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The blocks of a text; UTF-16 becomes UTF-8, with halves of surrogate pairs escaped."""
    first = next(blocks, b"")
    encoding = _utf16(first[:_SNIFFED])
    if not encoding:
        yield first
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
    for block in chain([first], blocks):
        yield decoder.decode(block).encode("utf-8", "backslashreplace")
    if decoder.getstate()[0]:
        yield b"\x81"  # half a letter: no letter of UTF-8, nor of Windows-1252


def _utf16(head: bytes) -> str:
    """The variant of UTF-16 that a text begins in, by its byte order mark or by letters of ASCII; "" if
    it is not UTF-16."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    even, odd = head[::2], head[1::2]
    if len(head) < 4 or head.count(0) != len(head) // 2:
        return ""
    return "utf-16-be" if not any(even) else "utf-16-le" if not any(odd) else ""


def _plain(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(CHUNK_BYTES // 4):
        yield block


def _unzipped(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """The blocks of the one file in a zip archive. Raises UnreadableFile, also if it is damaged."""
    try:
        archive = zipfile.ZipFile(file)
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        if len(entries) != 1:
            raise UnreadableFile(
                f"{path}: the zip must contain exactly one file (found {len(entries)})"
            )
        if entries[0].compress_type not in _ZIP_METHODS:
            raise UnreadableFile(
                f"{path}: the zip is compressed by another method than deflate; "
                "unpack it, or pack it anew"
            )
        with archive.open(entries[0]) as inner:
            while block := inner.read(CHUNK_BYTES // 4):
                yield block
    except UnreadableFile:
        raise
    except _ZIP_ERRORS as error:
        raise UnreadableFile(f"{path}: not readable as a zip archive ({error})") from error


def _inflated(file: BinaryIO) -> Iterator[bytes]:
    """The blocks of a gzip file of one or more members, up to its damage (raises DamagedArchive)."""
    archive = gzip.GzipFile(fileobj=file)
    try:
        while block := archive.read1(CHUNK_BYTES // 4):
            yield block
    except EOFError:
        raise DamagedArchive("the archive is truncated") from None
    except (OSError, zlib.error) as error:
        raise DamagedArchive(f"the archive is damaged ({error})") from error


def _lines(file: BinaryIO, blocks: Iterator[bytes]) -> Iterator[Lines]:
    number, parts, size, skipping, start = 1, [], 0, False, True
    broken: list[BrokenLine] = []
    lost = None
    try:
        for block in blocks:
            check_time()
            lines_read(block.count(b"\n"))
            if start and block:
                block, start = block.removeprefix(BOM), False
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
                yield Lines(number, ready, broken, file.tell())
                number, broken = number + len(ready), []
            data = data[cut:]
            if skipping or len(data) > MAX_LINE_BYTES:
                if not skipping:
                    broken.append(BrokenLine(number, TOO_LONG))
                skipping, data = True, b""
            parts, size = [data], len(data)
    except DamagedArchive as error:
        *ready, _ = b"".join(parts).split(b"\n")
        if skipping and ready:
            ready[0] = b""
        why = f"{error}: the rest is unreadable"
        lost = BrokenLine(number + len(ready), why, is_rest=True)
    else:
        ready = b"".join(parts).split(b"\n")
        if skipping:
            ready[0] = b""
        if not ready[-1]:
            ready.pop()
    _drop_too_long(number, ready, broken)
    yield Lines(number, ready, broken, file.tell(), lost)


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
