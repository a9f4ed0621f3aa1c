"""A preview of an import: the first accepted rows, the counts, the first rejects."""

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from jobs.importing.ceilings import check_time, file_ceilings
from jobs.importing.files.detect import ImportOptions, chunks_of
from jobs.importing.import_file import checked, readable
from jobs.importing.kinds.base import INCOMPLETE, Counts, Kind, Written
from jobs.importing.reject_text import kept_text
from jobs.importing.shops import ImportedShops
from jobs.importing.values.columns import ChunkColumns
from warehouse.connections.background_iter import background_iter
from warehouse.domain.email_hash import EmailHasher

_MAX_ROWS: Final = 5


@dataclass
class Preview:
    """`rows`: the first accepted ones, as JSON with the kind's fields, e-mail addresses and free answers
    hidden as in a reject. `counts`: of these, only `read`, `rejected`, `rejects` and `more`."""

    rows: list[str] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)

    def report(self) -> dict[str, int]:
        """The counts by name: read, valid, rejected, and a format's further counts."""
        read, rejected = self.counts.read, self.counts.rejected
        counts = {"read": read, "valid": read - rejected, "rejected": rejected}
        return counts | self.counts.more


def preview_files(
    kind: Kind,
    names: Mapping[Path, str],
    options: ImportOptions,
    shops: ImportedShops,
    hasher: EmailHasher,
) -> Preview:
    """Read and check files without writing; `names` are those of messages. Raises UnreadableFile."""
    preview = Preview()
    for path, name in names.items():
        with file_ceilings(path):
            chunks = readable(path, chunks_of(path, kind, options, shops))
            with closing(background_iter(checked(kind, chunks, shops, hasher, name))) as ready:
                for columns, _ in ready:
                    _add(preview, kind, name, columns)
                    check_time()
    return preview


def _add(preview: Preview, kind: Kind, file: str, columns: ChunkColumns) -> None:
    chunk, counts = columns.chunk, preview.counts
    accepted = columns.accepted().nonzero()[0][: _MAX_ROWS - len(preview.rows)]
    preview.rows += [_shown(kind, columns, int(row)) for row in accepted]
    rejects = [(int(chunk.lines[row]), reason.words) for row, reason in columns.refused()]
    rejects += [(line.line, line.reason) for line in chunk.broken]
    counts.add(Written(), len(chunk) + len(chunk.broken), len(rejects))
    counts.add_more(chunk.counted)
    counts.add_hashed(columns.hashed_addresses())
    if incomplete := columns.incomplete():
        counts.add_more({INCOMPLETE: len(incomplete)})
    rejects += [(int(chunk.lines[row]), reason.words) for row, reason in incomplete]
    counts.add_rejects(file, sorted(rejects))


def _shown(kind: Kind, columns: ChunkColumns, row: int) -> str:
    cells = {name: columns.objects(name)[row] for name in kind.field_names()}
    present = {name: value for name, value in cells.items() if value not in (None, "")}
    return kept_text(json.dumps(present, ensure_ascii=False, default=str), kind, columns.hasher)
