"""How to read a file, by its extension."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from jobs.importing import csv, ndjson, parquet
from jobs.importing.portion import Portion, Unreadable

Source = Callable[[Path, Sequence[str], frozenset[str]], Iterator[Portion]]

# What every gzip file begins with (RFC 1952).
_GZIP: Final = b"\x1f\x8b"

_SOURCES: Final[dict[str, Source]] = {
    ".ndjson": ndjson.portions,
    ".jsonl": ndjson.portions,
    ".csv": csv.portions,
    ".parquet": parquet.portions,
}


def source_of(path: Path) -> Source:
    """The reader of a file: called with the path, the fields that are wanted and those of them
    that may hold free text, it gives portions (with other fields too, where that costs nothing).

    Raises Unreadable where the extension is unknown, there is no such file, or a `.gz` is no archive.
    """
    name = path.name.lower()
    plain = name.removesuffix(".gz")
    source = _SOURCES.get(Path(plain).suffix)
    if source is None or (source is parquet.portions and plain != name):
        known = ".ndjson, .jsonl, .csv (each also with .gz) and .parquet"
        raise Unreadable(
            f"{path}: unknown extension (known are {known}), and not the export of a known system"
        )
    try:
        with path.open("rb") as file:
            begins = file.read(len(_GZIP))
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror or error}") from error
    if plain != name and begins != _GZIP:
        raise Unreadable(f"{path}: {'not a gzip file' if begins else 'empty, so not a gzip file'}")
    return source


def is_textual(file: str) -> bool:
    """Whether numbers may be written as text in a file of this name (see `Portion.textual`)."""
    return not file.lower().removesuffix(".gz").endswith((".ndjson", ".jsonl"))
