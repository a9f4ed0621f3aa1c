"""The files of the landing folder that name a person: dropped, waiting, or in `done/` and `failed/`.

`forget` lists them: whose files they are, and what else is in them, is not for a program to decide.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.importing.ceilings import memory_ceiling
from jobs.importing.files.byte_blocks import DamagedArchive, blocks_of
from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.files.detect import as_table, is_workbook
from jobs.landing.dropped import dropped_files
from jobs.landing.folder import survey
from jobs.landing.held_file import HeldPath
from jobs.run.console import Bar, bar
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


@dataclass
class FilesOfPerson:
    """`naming`: the files that name the person. `unread`: those that could not be read, with the reason."""

    naming: list[Path] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def files_of_person(root: Path, shop_id: str, person: Mapping[Identifier, str]) -> FilesOfPerson:
    """Look through all files that may be of a shop for identifiers and their hashes. `person`: each of them
    as a person writes it."""
    result = FilesOfPerson()
    pattern = re.compile(b"|".join(starmap(_spelled, person.items())), re.IGNORECASE)
    sizes = [size for _, descriptor, size in _open_files(root, shop_id)]
    with bar("files", "B", sum(sizes)) as progress:
        for path, descriptor, _ in _open_files(root, shop_id):
            held = HeldPath(path)
            held.descriptor = descriptor
            try:
                if _is_named(held, pattern, progress):
                    result.naming.append(path)
            except (
                OSError,
                UnreadableFile,
                DamagedArchive,
                pa.ArrowException,
                MemoryError,
            ) as error:
                reason = str(error).replace(os.fspath(held), str(path)) or type(error).__name__
                result.unread.append(f"{path}: {reason.removeprefix(f'{path}: ')}")
    return result


def _open_files(root: Path, shop_id: str) -> Iterator[tuple[Path, int, int]]:
    """Path, descriptor and size of each file in the folders that may have rows of a shop."""
    for place in survey(root).places:
        if place.shop_id not in ("", shop_id):
            continue
        for end in ((), (DONE,), (FAILED,)):
            with suppress(FileNotFoundError), open_folder(root, *place.parts, *end) as folder:
                for name in sorted(os.listdir(folder)):
                    with suppress(OSError), open_descriptor(name, _OPEN, folder) as descriptor:
                        status = os.fstat(descriptor)
                        if stat.S_ISREG(status.st_mode):
                            yield place.under(root).joinpath(*end, name), descriptor, status.st_size
    for path in dropped_files(root, shop_id):
        with suppress(OSError), open_descriptor(path, _OPEN) as descriptor:
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode):
                yield path, descriptor, status.st_size


def _is_named(path: Path, pattern: re.Pattern[bytes], progress: Bar) -> bool:
    """Whether a file names the person. Raises what `blocks_of` and Arrow raise, and MemoryError."""
    with memory_ceiling(IMPORT_MEMORY_MB.get()):
        if is_workbook(path):
            path = as_table(path)
        before, start = b"", 0
        is_parquet = path.suffix.lower() == ".parquet"
        for block, position in _parquet(path) if is_parquet else blocks_of(path):
            progress.advance(position - start)
            raise_if_stopped()
            if pattern.search(before + block):
                return True
            before, start = block[-_OVERLAP:], position
    return False


def _parquet(path: Path) -> Iterator[tuple[bytes, int]]:
    """The texts of a file, each once a chunk where that can be told; at no position."""
    with pq.ParquetFile(os.fspath(path)) as file:
        for batch in file.iter_batches(_PARQUET_ROWS):
            for column in batch.columns:
                values = column if pa.types.is_nested(column.type) else column.unique()
                yield "\n".join(map(str, values.to_pylist())).encode(), 0


def _spelled(person: Identifier, text: str) -> bytes:
    """A pattern of the identifier in the spellings of files, and of its plain and its keyed hash."""
    plain = text.strip().lower()
    hashes = {keyed_of(person.text) or (person.text if person.kind == EMAIL else "")}
    if is_sha256(plain):
        hashes.add(plain)
    elif person.kind == EMAIL or sole_address(text):
        hashes.add(hashed_email(text))
    spelled = b"".join(map(_spellings, text.strip()))
    if person.kind != EMAIL:
        # An id of a few digits is part of many numbers.
        spelled = rb"(?<![0-9A-Za-z])" + spelled + rb"(?![0-9A-Za-z])"
    return b"|".join([spelled, *map(str.encode, filter(None, hashes))])


def _spellings(char: str) -> bytes:
    """A character as texts, JSON and addresses of pages write it, as a pattern."""
    if char.isascii() and char.isalnum():
        return char.encode()
    spelled: set[bytes] = {
        spelling.encode()
        for letter in (char, char.lower(), char.upper())
        for spelling in (letter, quote(letter, safe=""), f"\\u{ord(letter[0]):04x}", f"\\{letter}")
    }
    # Tables that spreadsheets of Windows write.
    old = {letter.encode("cp1252", "ignore") for letter in (char, char.lower(), char.upper())}
    return b"(?:" + b"|".join(map(re.escape, sorted(spelled | (old - {b""})))) + b")"
