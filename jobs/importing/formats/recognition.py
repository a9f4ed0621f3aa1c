"""Which format a file is of: as it was named, or as its beginning says unmistakably."""

import csv
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from jobs.importing.formats.format import Format
from jobs.importing.formats.json_values import json_values
from jobs.importing.formats.records import Record, Sample
from jobs.importing.kind import Kind
from jobs.importing.portion import Unreadable
from jobs.importing.reading import BOM, Damaged, blocks_of

_HEAD: Final = 64 << 10
_RECORDS: Final = 20


def is_own(sample: Sample) -> bool:
    """Whether a file has rows as the contract describes them: no foreign record has a `shop_id`, nor
    are its rates called so."""
    first = sample.records[0] if sample.records else {}
    names = {name.strip().lower() for name in first}
    return "shop_id" in names or {"base", "quote", "rate"} <= names


def format_of(
    path: Path, kind: Kind, named: Format | None, formats: Sequence[Format]
) -> Format | None:
    """The format to read a file with, None for the contract's own rows.

    Raises Unreadable where the file is unmistakably something else than the kind, or than what was
    `named`; and where there is no such file.
    """
    try:
        sample = sample_of(path, [name for format in formats for name in format.within])
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror or error}") from error
    own = is_own(sample)
    found = None if own else next((one for one in formats if one.seems(sample)), None)
    if named is None:
        if found is not None and found.kind != kind.name:
            raise Unreadable(
                f"{path}: looks like {found.name} ({found.kind}), not like {kind.name}"
            )
        return found
    if found is not None and found is not named:
        raise Unreadable(f"{path}: looks like {found.name} ({found.kind}), not like {named.name}")
    if own:
        raise Unreadable(f"{path}: looks like this program's own rows, not like {named.name}")
    return named


def sample_of(path: Path, within: Sequence[str]) -> Sample:
    """The beginning of a file; `within` as for `json_records`. Raises OSError."""
    try:
        head = next(blocks_of(path), (b"", 0))[0][:_HEAD]
    except Damaged:
        head = b""
    text = head.removeprefix(BOM).lstrip()
    if text[:1] in (b"{", b"["):
        return Sample(head, _first_objects(path, within))
    return Sample(head, _first_of_table(text))


def _first_objects(path: Path, within: Sequence[str]) -> list[Record]:
    found = islice(json_values(path, within), _RECORDS)
    return [one.value for one in found if not one.wrong]


def _first_of_table(text: bytes) -> list[Record]:
    """The first record of a CSV file, as texts by the names of its header."""
    if b"\0" in text:
        return []
    lines = csv.reader(text.decode("utf-8", "replace").splitlines(keepends=True))
    try:
        header, *first = list(islice(lines, 2))
    except (csv.Error, ValueError):
        return []
    cells = first[0] if first else []
    return [dict(zip(header, cells + [""] * len(header), strict=False))]
