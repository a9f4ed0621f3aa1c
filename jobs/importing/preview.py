"""A preview of an import: a file is read and checked as an import does it, and nothing is written."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from jobs.importing.ceilings import check_time
from jobs.importing.files.detect import ImportOptions, chunks_of
from jobs.importing.import_file import CheckedChunk, checked, readable
from jobs.importing.kinds.base import Counts, Kind
from jobs.importing.reject_text import kept_text
from jobs.importing.shops import ImportedShops
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
                chunk, counts = columns.chunk, self.counts
                for row in columns.accepted().nonzero()[0][: _MAX_ROWS - len(self.rows)].tolist():
                    cells = {field: columns.objects(field)[row] for field in kind.field_names()}
                    present = {
                        field: cell for field, cell in cells.items() if cell not in (None, "")
                    }
                    text = json.dumps(present, ensure_ascii=False, default=str)
                    self.rows.append(kept_text(text, kind, hasher))
                rejects = [(int(chunk.lines[row]), why.words) for row, why in columns.refused()]
                rejects += [(line.line, line.reason) for line in chunk.broken]
                read = len(chunk) + len(chunk.broken)
                counts.add(Counts(read=read, rejected=len(rejects), more=dict(chunk.counted)))
                counts.add_found(columns)
                rejects += [(int(chunk.lines[row]), why.words) for row, why in columns.incomplete()]
                rejects.sort()
                counts.add_rejects(name, rejects)
                for line, reason in rejects:
                    self.reasons.setdefault(without_values(reason), [0, line])[0] += 1
                yield columns, rows
                check_time()
