"""The files of the landing folder that name a person: dropped, waiting, or in `done/` and `failed/`.

`forget` lists them: whose files they are, and what else is in them, is not for a program to decide.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import product, starmap
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.importing.ceilings import memory_ceiling
from jobs.importing.files.byte_blocks import DamagedArchive, blocks_of
from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.files.detect import as_table
from jobs.importing.files.spreadsheet import is_spreadsheet
from jobs.landing.dropped import dropped_files
from jobs.landing.folder import survey
from jobs.landing.held_file import HeldPath
from jobs.run.console import bar
from jobs.run.signals import raise_if_stopped
from warehouse.domain.addresses import sole_address
from warehouse.domain.email_hash import hashed_email, is_sha256, keyed_of
from warehouse.domain.landing_names import DONE, FAILED
from warehouse.intake.landing_folders import open_descriptor, open_folder
from warehouse.persons.forgotten import EMAIL, Identifier
from warehouse.settings import IMPORT_MEMORY_MB

# A pipe that was put there does not make us wait for its writer.
_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
# No spelling of an identifier is longer.
_OVERLAP: Final = 4096
_PARQUET_ROWS: Final = 10_000
_UNREADABLE: Final = (OSError, UnreadableFile, DamagedArchive, pa.ArrowException, MemoryError)


def files_of_person(
    root: Path, shop_id: str, person: Mapping[Identifier, str]
) -> tuple[list[Path], list[str]]:
    """Look through all files that may be of a shop for identifiers and their hashes. `person`: each of them
    as a person writes it. Returns the files that name the person, and those that could not be read, with the
    reason."""
    naming, unread = list[Path](), list[str]()
    pattern = re.compile(b"|".join(starmap(_spelled, person.items())), re.IGNORECASE)
    sizes = [size for _, descriptor, size in _open_files(root, shop_id)]
    with bar("files", "B", sum(sizes)) as progress:
        for path, descriptor, _ in _open_files(root, shop_id):
            held = HeldPath(path)
            held.descriptor = descriptor
            before, start = b"", 0
            try:
                with memory_ceiling(IMPORT_MEMORY_MB.get() << 20):
                    table = as_table(held) if is_spreadsheet(held) else held
                    is_parquet = table.suffix.lower() == ".parquet"
                    for block, position in _parquet(table) if is_parquet else blocks_of(table):
                        progress.advance(position - start)
                        raise_if_stopped()
                        if pattern.search(before + block):
                            naming.append(path)
                            break
                        before, start = block[-_OVERLAP:], position
            except _UNREADABLE as error:
                reason = str(error).replace(os.fspath(held), str(path)) or type(error).__name__
                unread.append(f"{path}: {reason.removeprefix(f'{path}: ')}")
    return naming, unread


def _open_files(root: Path, shop_id: str) -> Iterator[tuple[Path, int, int]]:
    """Path, descriptor and size of each file in the folders that may have rows of a shop."""

    def opened(path: Path, *where: Any) -> Iterator[tuple[Path, int, int]]:
        with suppress(OSError), open_descriptor(*where) as descriptor:
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode):
                yield path, descriptor, status.st_size

    places = [place for place in survey(root).places if place.shop_id in ("", shop_id)]
    for place, end in product(places, ((), (DONE,), (FAILED,))):
        with suppress(FileNotFoundError), open_folder(root, *place.parts, *end) as folder:
            for name in sorted(os.listdir(folder)):
                yield from opened(place.under(root).joinpath(*end, name), name, _OPEN, folder)
    for path in dropped_files(root, shop_id):
        yield from opened(path, path, _OPEN)


def _parquet(path: Path) -> Iterator[tuple[bytes, int]]:
    """The texts of a file, each once a chunk where that can be told; at no position."""
    with pq.ParquetFile(os.fspath(path)) as file:
        for batch in file.iter_batches(_PARQUET_ROWS):
            for column in batch.columns:
                values = column if pa.types.is_nested(column.type) else column.unique()
                yield "\n".join(map(str, values.to_pylist())).encode(), 0


def _spelled(person: Identifier, text: str) -> bytes:
    """A pattern of the identifier in the spellings of files, and of its plain and its keyed hash."""

    def spellings(char: str) -> bytes:
        """A character as texts, JSON and addresses of pages write it, as a pattern."""
        if char.isascii() and char.isalnum():
            return char.encode()
        letters = (char, char.lower(), char.upper())
        spelled = {
            spelling.encode()
            for letter in letters
            for spelling in (
                letter,
                quote(letter, safe=""),
                f"\\u{ord(letter[0]):04x}",
                f"\\{letter}",
            )
        }
        # Tables that spreadsheets of Windows write.
        spelled |= {letter.encode("cp1252", "ignore") for letter in letters} - {b""}
        return b"(?:" + b"|".join(map(re.escape, sorted(spelled))) + b")"

    plain = text.strip().lower()
    hashes = {keyed_of(person.text) or (person.text if person.kind == EMAIL else "")}
    if is_sha256(plain):
        hashes.add(plain)
    elif person.kind == EMAIL or sole_address(text):
        hashes.add(hashed_email(text))
    spelled = b"".join(map(spellings, text.strip()))
    if person.kind != EMAIL:
        # An id of a few digits is part of many numbers.
        spelled = rb"(?<![0-9A-Za-z])" + spelled + rb"(?![0-9A-Za-z])"
    return b"|".join([spelled, *map(str.encode, filter(None, hashes))])
