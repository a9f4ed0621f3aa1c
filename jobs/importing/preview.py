"""What an import would do: the first rows as they would be taken, the counts, the first rejects."""

import json
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from jobs.ahead import ahead, without_collection
from jobs.importing.checks import Checks
from jobs.importing.kind import Counts, Kind
from jobs.importing.opening import Given, portions_of
from jobs.importing.privacy import kept_text
from jobs.importing.run import checked, readable
from jobs.importing.shops import Shops

_ROWS: Final = 5
_REJECTS: Final = 20


@dataclass
class Preview:
    """`rows`: the first that would be taken, as JSON with the kind's fields, e-mail addresses and
    free answers hidden as in a reject. `rejects`: the first, as FILE:LINE REASON. `counts`: read,
    valid, rejected, and what a format counts besides."""

    rows: list[str] = field(default_factory=list)
    rejects: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


def previewed(kind: Kind, files: Iterable[Path], given: Given, shops: Shops) -> Preview:
    """Read and check files, and write nothing. Raises Unreadable."""
    preview, counts = Preview(), Counts()
    for path in files:
        portions = readable(path, portions_of(path, kind, given, shops))
        with without_collection(), closing(ahead(checked(kind, portions, shops))) as ready:
            for checks, _ in ready:
                _look(preview, counts, kind, str(path), checks)
    valid = counts.read - counts.rejected
    preview.counts = {"read": counts.read, "valid": valid, "rejected": counts.rejected}
    preview.counts |= counts.more
    return preview


def _look(preview: Preview, counts: Counts, kind: Kind, file: str, checks: Checks) -> None:
    portion = checks.portion
    good = checks.good().nonzero()[0][: _ROWS - len(preview.rows)]
    preview.rows += [_shown(kind, checks, int(row)) for row in good]
    rejects = [(int(portion.lines[row]), reason) for row, reason in checks.refused()]
    rejects += [(one.line, one.reason) for one in portion.broken]
    counts.read += len(portion) + len(portion.broken)
    counts.rejected += len(rejects)
    counts.count(portion.counted)
    shown = sorted(rejects)[: _REJECTS - len(preview.rejects)]
    preview.rejects += [f"{file}:{line} {reason}" for line, reason in shown]


def _shown(kind: Kind, checks: Checks, row: int) -> str:
    cells = {name: checks.objects(name)[row] for name in kind.fields}
    given = {name: value for name, value in cells.items() if value not in (None, "")}
    return kept_text(_json(given), kind.conceal, kind.private)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
