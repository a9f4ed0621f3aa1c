"""The bytes of a file as lines: compressed or not, whole or cut short."""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from jobs.importing.portion import BYTES, LONGEST_LINE, LONGEST_TEXT, Broken, Unreadable

_COMPRESSED_AT_ONCE: Final = 256 << 10
_GZIP: Final = 16 + zlib.MAX_WBITS
BOM: Final = b"\xef\xbb\xbf"
TOO_LONG: Final = f"the line is longer than {LONGEST_LINE >> 20} MiB"


class Damaged(Exception):
    """The rest of an archive cannot be read; the message says why."""


class Lines(NamedTuple):
    """Lines that follow each other, without their line feeds; `first` is the number of the first.

    A line that is given up is in `broken`, and is empty in `lines`. `lost` is what follows the last
    line in a damaged archive.
    """

    first: int
    lines: list[bytes]
    broken: list[Broken]
    position: int
    lost: Broken | None = None


def readable(data: bytes) -> str:
    """Bytes as text; what is no UTF-8 stays visible, and does not become valid by being kept."""
    return data[: 4 * LONGEST_TEXT].decode("utf-8", "backslashreplace")[:LONGEST_TEXT]


def lines_of(path: Path) -> Iterator[Lines]:
    """All lines of a file, some megabytes of them at a time. Raises OSError."""
    with path.open("rb") as file:
        yield from _lines(file, _blocks(file, path))


def blocks_of(path: Path) -> Iterator[tuple[bytes, int]]:
    """What a file holds, unpacked where it is a `.gz` or a `.zip`, block by block, each with how many
    bytes of the file have been read. Raises OSError, Unreadable where it is no such archive, and
    Damaged where the rest of one is unreadable."""
    with path.open("rb") as file:
        for block in _blocks(file, path):
            yield block, file.tell()


def _blocks(file: BinaryIO, path: Path) -> Iterator[bytes]:
    suffix = path.suffix.lower()
    if suffix == ".zip":
        return _unzipped(file, path)
    return _inflated(file) if suffix == ".gz" else _plain(file)


def _plain(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(BYTES // 4):
        yield block


def _unzipped(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """What the one file in a zip archive holds. Raises Unreadable, also where it is damaged."""
    try:
        archive = zipfile.ZipFile(file)
        names = [one.filename for one in archive.infolist() if not one.is_dir()]
        if len(names) != 1:
            raise Unreadable(f"{path}: there are {len(names)} files in it, and has to be one")
        with archive.open(names[0]) as inner:
            while block := inner.read(BYTES // 4):
                yield block
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise Unreadable(f"{path}: not readable as a zip archive ({error})") from error


def _inflated(file: BinaryIO) -> Iterator[bytes]:
    """What a gzip file of one or more members holds, up to where it is damaged (raises Damaged)."""
    inflate, begun, rest = zlib.decompressobj(_GZIP), False, b""
    while data := rest or file.read(_COMPRESSED_AT_ONCE):
        if not begun and not data.strip(b"\0"):
            rest = b""  # padding after a member
            continue
        begun, before = True, inflate.copy()
        try:
            block = inflate.decompress(data, BYTES // 4)
        except zlib.error as error:
            yield from _up_to_the_damage(before, data)
            raise Damaged(f"the archive is damaged ({error})") from error
        yield block
        rest = inflate.unconsumed_tail
        if inflate.eof:
            inflate, begun, rest = zlib.decompressobj(_GZIP), False, inflate.unused_data
    if begun:
        raise Damaged("the archive is truncated")


def _up_to_the_damage(inflate: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    # A failed call gives nothing back, not even what came before the damage: so byte by byte.
    for place in range(len(data)):
        try:
            yield inflate.decompress(data[place : place + 1])
        except zlib.error:
            return


def _lines(file: BinaryIO, blocks: Iterator[bytes]) -> Iterator[Lines]:
    number, parts, size, skipping, start = 1, [], 0, False, True
    broken: list[Broken] = []
    lost = None
    try:
        for block in blocks:
            if start and block:
                block, start = block.removeprefix(BOM), False
            parts.append(block)
            size += len(block)
            if size < BYTES:
                continue
            data = b"".join(parts)
            cut = data.rfind(b"\n") + 1
            if cut:
                ready = data[: cut - 1].split(b"\n")
                if skipping:
                    ready[0], skipping = b"", False
                _drop_giants(number, ready, broken)
                yield Lines(number, ready, broken, file.tell())
                number, broken = number + len(ready), []
            data = data[cut:]
            if skipping or len(data) > LONGEST_LINE:
                if not skipping:
                    broken.append(Broken(number, readable(data), TOO_LONG))
                skipping, data = True, b""
            parts, size = [data], len(data)
    except Damaged as error:
        *ready, last = b"".join(parts).split(b"\n")
        if skipping and ready:
            ready[0] = b""
        lost = Broken(number + len(ready), readable(last), f"{error}: the rest is unreadable")
    else:
        ready = b"".join(parts).split(b"\n")
        if skipping:
            ready[0] = b""
        if not ready[-1]:
            ready.pop()
    _drop_giants(number, ready, broken)
    yield Lines(number, ready, broken, file.tell(), lost)


def _drop_giants(first: int, lines: list[bytes], broken: list[Broken]) -> None:
    if max(map(len, lines), default=0) > LONGEST_LINE:
        for place, line in enumerate(lines):
            if len(line) > LONGEST_LINE:
                broken.append(Broken(first + place, readable(line), TOO_LONG))
                lines[place] = b""
