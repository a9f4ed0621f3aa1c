"""A preview of an import: a file is read and checked as an import does it, and nothing is written."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from jobs.importing.ceilings import check_time, file_ceilings
from jobs.importing.files.detect import ImportOptions, chunks_of
from jobs.importing.import_file import CheckedChunk, checked, readable
from jobs.importing.kinds.base import INCOMPLETE, Counts, Kind, Written
from jobs.importing.reject_text import kept_text
from jobs.importing.shops import ImportedShops
from jobs.importing.values.columns import ChunkColumns
from warehouse.connections.arrow import background_iter
from warehouse.domain.email_hash import EmailHasher
from warehouse.domain.vocabulary import without_values

_MAX_ROWS: Final = 5


@dataclass
class Preview:
    """The result of a preview."""

    # The first accepted rows, as JSON with the kind's fields, e-mail addresses and free answers
    # hidden as in a reject.
    rows: list[str] = field(default_factory=list)
    # The counts; of these, only `read`, `rejected`, `rejects` and `more`.
    counts: Counts = field(default_factory=Counts)
    # The reasons of rejected rows, and of rows without a field: how many, and the first line.
    reasons: dict[str, list[int]] = field(default_factory=dict)

    def report(self) -> dict[str, int]:
        """The counts by name: read, valid, rejected, and a format's further counts."""
        read, rejected = self.counts.read, self.counts.rejected
        counts = {"read": read, "valid": read - rejected, "rejected": rejected}
        return counts | self.counts.more

    def steps(
        self,
        kind: Kind,
        path: Path,
        name: str,
        options: ImportOptions,
        shops: ImportedShops,
        hasher: EmailHasher,
    ) -> Iterator[CheckedChunk]:
        """Add a file, which messages call by its name; after each chunk, its columns and rows. Raises
        UnreadableFile."""
        chunks = readable(path, chunks_of(path, kind, options, shops))
        with closing(background_iter(checked(kind, chunks, shops, hasher, name))) as ready:
            for columns, rows in ready:
                self._add(kind, name, columns)
                yield columns, rows
                check_time()

    def _add(self, kind: Kind, file: str, columns: ChunkColumns) -> None:
        chunk, counts = columns.chunk, self.counts
        for row in columns.accepted().nonzero()[0][: _MAX_ROWS - len(self.rows)].tolist():
            cells = {name: columns.objects(name)[row] for name in kind.field_names()}
            present = {name: value for name, value in cells.items() if value not in (None, "")}
            text = json.dumps(present, ensure_ascii=False, default=str)
            self.rows.append(kept_text(text, kind, columns.hasher))
        rejects = [(int(chunk.lines[row]), reason.words) for row, reason in columns.refused()]
        rejects += [(line.line, line.reason) for line in chunk.broken]
        counts.add(Written(), len(chunk) + len(chunk.broken), len(rejects))
        counts.add_more(chunk.counted)
        counts.add_hashed(columns.hashed_addresses())
        if incomplete := columns.incomplete():
            counts.add_more({INCOMPLETE: len(incomplete)})
        rejects += [(int(chunk.lines[row]), reason.words) for row, reason in incomplete]
        rejects.sort()
        counts.add_rejects(file, rejects)
        for line, reason in rejects:
            self.reasons.setdefault(without_values(reason), [0, line])[0] += 1


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
            for _ in preview.steps(kind, path, name, options, shops, hasher):
                pass
    return preview
