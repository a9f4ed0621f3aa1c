"""The import of one file, from its bytes to the counts: read in chunks, checked, written.

Each chunk is one transaction, together with its rejects.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa

from jobs.importing.ceilings import OverCeiling, check_time, file_ceilings
from jobs.importing.files.chunk import Chunk, UnreadableFile
from jobs.importing.files.detect import NO_OPTIONS, ImportOptions, chunks_of
from jobs.importing.kept_rejects import KeptRejects, Rejects
from jobs.importing.kinds.base import NOT_KEPT, Counts, Kind, Written
from jobs.importing.shops import ImportedShops, load_shops
from jobs.importing.values.columns import ChunkColumns
from jobs.run.background_iter import background_iter
from warehouse.connections.arrow import ArrowConnection

Progress = Callable[[int], None]
CheckedChunk = tuple[ChunkColumns, pa.Table]


def import_file(
    connection: ArrowConnection,
    kind: Kind,
    path: Path,
    progress: Progress,
    counts: Counts,
    *,
    options: ImportOptions = NO_OPTIONS,
    name: str = "",
) -> None:
    """Import one file and add to the counts. Calls `progress` with the bytes read so far. Rejects are
    listed under `name`, or else under the path.

    Raises UnreadableFile if the file does not exist or cannot be read at all, and OverCeiling if it
    takes too much; rows of chunks that were written before an error stay.
    """
    try:
        with file_ceilings(path):
            chunks = readable(path, chunks_of(path, kind, options, load_shops(connection)))
            import_chunks(connection, kind, name or str(path), chunks, progress, counts)
    except OverCeiling:
        connection.rollback()
        raise


def import_chunks(
    connection: ArrowConnection,
    kind: Kind,
    file: str,
    chunks: Iterable[Chunk],
    progress: Progress,
    counts: Counts,
) -> None:
    """Import chunks of a file of this name and add to the counts."""
    connection.tune_for_import()
    shops = load_shops(connection)
    kept = KeptRejects(connection, kind, file, shops)
    with closing(background_iter(checked(kind, chunks, shops))) as ready:
        for columns, rows in ready:
            write_chunk(connection, kind, kept, columns, rows, counts)
            progress(columns.chunk.position)
            check_time()


def checked(kind: Kind, chunks: Iterable[Chunk], shops: ImportedShops) -> Iterator[CheckedChunk]:
    """(columns with the refused rows, all rows of the kind) for each chunk."""
    for chunk in chunks:
        columns = ChunkColumns(chunk)
        yield columns, kind.check(columns, shops)


def readable(path: Path, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """The chunks of a file; raises UnreadableFile for an OSError on the way."""
    try:
        yield from chunks
    except OSError as error:
        raise UnreadableFile(f"{path}: {error.strerror or error}") from error


def write_chunk(
    connection: ArrowConnection,
    kind: Kind,
    kept: KeptRejects,
    columns: ChunkColumns,
    rows: pa.Table,
    counts: Counts,
) -> None:
    """Write the accepted rows of a chunk, and its rejects. Commits, then adds to the counts."""
    chunk, refused, not_kept = columns.chunk, columns.refused_rows(), kept.not_kept
    written, rejects = Written(), Rejects()
    rejected = refused + len(chunk.broken)
    if refused:
        rows = rows.filter(pa.array(columns.accepted()))
    if rejected:
        rejects = kept.stage(columns)
    if rows.num_rows:
        written = kind.write(connection, rows)
    if rejected:
        kept.write(chunk, staged=bool(rejects))
    connection.commit()
    if chunk.format:
        counts.add_more(chunk.counted, written.more)
    if kept.not_kept > not_kept:
        counts.add_more({NOT_KEPT: kept.not_kept - not_kept})
    counts.add(written, len(chunk) + len(chunk.broken), rejected)
    counts.add_rejects(kept.file, ((line, reason) for line, reason, _ in rejects))
