"""The import of one file, from its bytes to the counts: read in chunks, checked, written.

Each chunk is one transaction, together with its rejects.
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from jobs.importing.ceilings import FileCeilings, OverCeiling, check_time, row_found, rows_tried
from jobs.importing.files.chunk import Chunk, RefusedFile, UnreadableFile
from jobs.importing.files.detect import NO_OPTIONS, ImportOptions, chunks_of
from jobs.importing.kept_rejects import KeptRejects, Rejects
from jobs.importing.kinds.append_only import FORGOTTEN
from jobs.importing.kinds.base import NOT_KEPT, Counts, Kind
from jobs.importing.shops import ImportedShops, keep_shops, load_shops
from jobs.importing.values.columns import ChunkColumns
from jobs.importing.values.errors import quoted
from jobs.importing.values.fields import KEPT_DIGITS
from warehouse.connections.arrow import ArrowConnection, background_iter
from warehouse.domain import landing_names
from warehouse.domain.email_hash import EmailHasher
from warehouse.domain.time import now_micros
from warehouse.intake import imports
from warehouse.persons.hash_secret import email_hasher

CheckedChunk = tuple[ChunkColumns, pa.Table]


class RejectSink(Protocol):
    """A place for the refused rows of chunks, and for rows without a field. An import of a file keeps them; a
    retry gives them new reasons."""

    file: str
    import_id: int
    not_kept: int

    def stage(self, columns: ChunkColumns) -> Rejects:
        """Stage what is to be written of a chunk's rejects; the lines and reasons to show."""

    def write(self, chunk: Chunk, tried: Counts, shops: set[int]) -> None:
        """Write what is staged, and the counts of the import, in the transaction of the rows; `shops`: the
        keys of the shops of the rows that were written. Raises ImportUndone."""


def import_steps(
    connection: ArrowConnection,
    kind: Kind,
    path: Path,
    counts: Counts,
    *,
    options: ImportOptions = NO_OPTIONS,
    name: str = "",
    run_id: int = 0,
    only: str = "",
    chunks: Iterator[Chunk] | None = None,
    together: list[int] | None = None,
) -> Generator[int, None, None]:
    """Import one file and add to the counts; after each chunk, the bytes read so far. Between two chunks the
    caller may import others, on the same connection.

    The import and its rejects are listed under `name`, or else under the path. `run_id`: the run that imports
    it. `only`: the shop of all its rows, where its folder says so; rows of others are refused. `chunks`:
    those of the file, where it was recognised before. `together`: the imports that say something together
    with this one, to which it is added; the caller ends them (`Kind.finish`).

    Raises UnreadableFile if the file does not exist or cannot be read at all, OverCeiling if it takes
    too much, and ShopDeleted if a shop of its rows was deleted meanwhile; rows of chunks that were
    written before an error stay.
    """

    def begin() -> Generator[int, None, None]:
        shops = load_shops(connection)
        if only:
            shops = shops.narrowed(only)
            if not shops.keys:
                raise UnreadableFile(f"{path}: no shop {only!r}; import it first (kind shops)")
        found = readable(path, chunks or chunks_of(path, kind, options, shops))
        file = name or str(path)
        yield from import_chunks(
            *(connection, kind, file, found, counts),
            run_id=run_id,
            shops=shops,
            together=together,
        )

    ceilings = FileCeilings(path)
    with closing(begin()) as steps:
        while True:
            try:
                with ceilings.portion():
                    position = next(steps, None)
            except OverCeiling:
                connection.rollback()
                raise
            if position is None:
                return
            yield position


def import_chunks(
    connection: ArrowConnection,
    kind: Kind,
    file: str,
    chunks: Iterable[Chunk],
    counts: Counts,
    *,
    run_id: int = 0,
    shops: ImportedShops | None = None,
    together: list[int] | None = None,
) -> Generator[int, None, None]:
    """Import chunks of a file of this name and add to the counts; after each, the bytes read so far. `shops`:
    those that rows can belong to. `together`: see `import_steps`."""
    connection.tune_for_import()
    shops, hasher = shops or load_shops(connection), email_hasher(connection)
    own = imports.begin(connection, kind.name, file, run_id, now_micros())
    kept = KeptRejects(connection, kind, file, shops, own)
    state, before, is_withdrawn = imports.FAILED, counts.read, False
    try:
        with closing(background_iter(checked(kind, chunks, shops, hasher, file))) as ready:
            for columns, rows in ready:
                read, rejected = counts.read, counts.rejected
                write_chunk(connection, kind, kept, columns, rows, counts)
                tried, refused = counts.read - read, counts.rejected - rejected
                yield columns.chunk.position
                check_time()
                rows_tried(tried, tried - refused)
        if together is None:
            counts.add_more(kind.finish(connection, [own.import_id]))
        else:
            together.append(own.import_id)
        state = imports.DONE
    except RefusedFile as refusal:
        is_withdrawn = counts.read > before
        if is_withdrawn:
            raise RefusedFile(
                f"{refusal}; {counts.read - before} rows before it were written, and the next rollup takes "
                "them back"
            ) from None
        raise
    finally:
        # A killed import has no end, and neither has one that lost its connection.
        with suppress(Exception):
            connection.rollback()
            imports.end(connection, own, state, now_micros())
        if is_withdrawn:
            imports.begin_undo(connection, own.import_id)


def checked(
    kind: Kind, chunks: Iterable[Chunk], shops: ImportedShops, hasher: EmailHasher, file: str
) -> Iterator[CheckedChunk]:
    """(columns with the refused rows, all rows of the kind) for each chunk. Raises RefusedFile for a chunk
    that shows that nothing of the file is to be taken; the others may be written then.

    The collector's files hold rows of all shops: there a bad row costs itself alone."""
    # The fields of which an earlier chunk had an id with other digits.
    of_file, whole_ids = kind.of_file(), set[str]()
    is_collected = landing_names.is_collected(Path(file).name)
    for chunk in chunks:
        columns = ChunkColumns(chunk, hasher)
        rows = kind.check(columns, shops)
        left_out = of_file.left_out(columns, rows)
        if left_out.any():
            chunk = chunk.without(left_out)
            columns = ChunkColumns(chunk, hasher)
            rows = kind.check(columns, shops)
        if not is_collected:
            refusal = chunk.refusal
            for field, example in columns.long_ids.items() if not refusal else ():
                if not example:
                    whole_ids.add(field)
                elif field not in whole_ids:
                    refusal = (
                        f"{field}: all of its long numbers, such as {quoted(example)}, end in zeros from "
                        f"digit {KEPT_DIGITS + 1} on: a spreadsheet has cut them; export the file again, and "
                        "import it as it was exported"
                    )
                    break
            refusal = refusal or of_file.refusal(columns, rows)
            if refusal:
                raise RefusedFile(f"{file}: {refusal}")
        yield columns, rows


def readable(path: Path, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """The chunks of a file; raises UnreadableFile for an OSError on the way."""
    try:
        for chunk in chunks:
            if len(chunk) or chunk.broken:
                row_found()
            yield chunk
    except OSError as error:
        raise UnreadableFile(f"{path}: {error.strerror or error}") from error


def write_chunk(
    connection: ArrowConnection,
    kind: Kind,
    sink: RejectSink,
    columns: ChunkColumns,
    rows: pa.Table,
    counts: Counts,
) -> None:
    """Write the accepted rows of a chunk, and its rejects to their sink. Commits, then adds to the counts.
    Raises ShopDeleted and ImportUndone."""
    chunk, not_kept = columns.chunk, sink.not_kept
    has_begun = kind.refuse_stored(connection, columns, rows)
    refused, passed_over = columns.refused_rows(), len(columns.passed_over)
    broken, rejects, shops = len(chunk.broken), Rejects(), set[int]()
    tried = Counts(read=len(chunk) + broken, rejected=refused + broken, more=dict(chunk.counted))
    if refused or passed_over:
        rows = rows.filter(pa.array(columns.to_write()))
    if tried.rejected or columns.incomplete():
        rejects = sink.stage(columns)
        if not has_begun:
            connection.commit()  # the transaction must begin with a write (see `Kind.write`)
    if rows.num_rows:
        written = kind.write(connection, rows, sink.import_id)
        tried.add(Counts(written.new, written.duplicate, written.replaced))
        more = written.more.items()
        tried.add_more({name: count for name, count in more if chunk.format or name == FORGOTTEN})
        shops = keep_shops(connection, rows)
    tried.duplicate += passed_over
    tried.add_found(columns)
    sink.write(chunk, tried, shops)
    connection.commit()
    if sink.not_kept > not_kept:
        tried.add_more({NOT_KEPT: sink.not_kept - not_kept})
    counts.add(tried)
    counts.add_rejects(sink.file, rejects)
