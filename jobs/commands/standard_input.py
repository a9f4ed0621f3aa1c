"""Standard input as a file: what it is can only be told by reading it more than once."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

from jobs.importing.files.byte_blocks import head_of
from jobs.importing.files.spreadsheet import is_spreadsheet

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
        spool = Path(folder, "-")
        with spool.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        with spool.open("rb") as written:
            magic = written.read(4)
        if not magic:
            click.echo("standard input is empty: nothing was read")
        if magic == _PARQUET:
            spool = spool.rename(f"{spool}.parquet")
        elif is_spreadsheet(spool):
            spool = spool.rename(f"{spool}.xlsx")
        else:
            packed = next((end for start, end in _ARCHIVES.items() if magic.startswith(start)), "")
            spool = spool.rename(f"{spool}{packed}")
            kind = ".ndjson" if head_of(spool).lstrip()[:1] in (b"{", b"[", b"") else ".csv"
            spool = spool.rename(f"{folder}/-{kind}{packed}")
        paths = [spool if path == STANDARD_INPUT else path for path in files]
        yield {path: str(file) for path, file in zip(paths, files, strict=True)}
