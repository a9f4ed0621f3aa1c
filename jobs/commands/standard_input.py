"""Standard input as a file: what it is can only be told by reading it more than once."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

from jobs.importing.files.byte_blocks import BOM, DamagedArchive, blocks_of
from jobs.importing.files.detect import is_workbook

STANDARD_INPUT: Final = Path("-")
_ARCHIVES: Final = {b"\x1f\x8b": ".gz", b"PK\x03\x04": ".zip"}
_PARQUET: Final = b"PAR1"


@contextmanager
def spooled(files: tuple[Path, ...]) -> Iterator[dict[Path, str]]:
    """The files to read, each with the name under which it is known: standard input is a temporary file
    during the block, with the extension that its content asks for."""
    if STANDARD_INPUT not in files:
        yield {path: str(path) for path in files}
        return
    with TemporaryDirectory() as folder:
        spool = _named(Path(folder))
        paths = [spool if path == STANDARD_INPUT else path for path in files]
        yield {path: str(file) for path, file in zip(paths, files, strict=True)}


def _named(folder: Path) -> Path:
    raw = folder / "-"
    with raw.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    with raw.open("rb") as file:
        magic = file.read(4)
    if not magic:
        click.echo("standard input is empty: nothing was read")
    if magic == _PARQUET:
        return raw.rename(folder / "-.parquet")
    if is_workbook(raw):
        return raw.rename(folder / "-.xlsx")
    packed = next((end for start, end in _ARCHIVES.items() if magic.startswith(start)), "")
    archive = raw.rename(folder / f"-{packed}") if packed else raw
    try:
        head = next(blocks_of(archive), (b"", 0))[0].removeprefix(BOM).lstrip()
    except DamagedArchive:
        head = b""
    kind = ".ndjson" if head[:1] in (b"{", b"[", b"") else ".csv"
    return archive.rename(folder / f"-{kind}{packed}")
