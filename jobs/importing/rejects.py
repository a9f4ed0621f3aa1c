"""Rejected rows: listed, retried, purged."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from jobs.importing.files.chunk import Chunk
from jobs.importing.files.detect import is_textual
from jobs.importing.files.ndjson import chunk_of_texts
from jobs.importing.formats import FORMATS, mapping
from jobs.importing.formats.base import Records, Target
from jobs.importing.formats.projection import kept_record
from jobs.importing.kept_rejects import certain_shop
from jobs.importing.kinds import KINDS
from jobs.importing.kinds.base import Counts, Kind, Written
from jobs.importing.shops import ImportedShops, load_shops
from jobs.importing.values.columns import ChunkColumns
from jobs.run.clock import now_micros
from jobs.run.console import say
from jobs.run.job_run import JobRun
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, Cell
from warehouse.connections.errors import defect, is_outage
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.operations import reject_retries
from warehouse.operations.reject_reasons import without_values

# Rejects that are listed or retried at once, and the characters of their texts.
_ROWS: Final = 5_000
_TEXT: Final = 16 << 20
# Rejects of one shop that one refresh tries: the figures of others must not wait for them.
_ROWS_A_REFRESH: Final = 20_000

# Format, shop, whether the file writes numbers as text.
Group = tuple[str, str, bool]


@dataclass(frozen=True)
class Reject:
    """A rejected row: its place, the reason, its kept text. `format` and `shop_id`: see `Chunk`."""

    reject_id: int
    kind: str
    format: str
    shop_id: str
    file: str
    line: int
    reason: str
    text: str


def purge_rejects(connection: ArrowConnection, now: int, days: int) -> None:
    """Delete the rejects that are older than this many days. Commits."""
    connection.execute("DELETE FROM reject WHERE rejected_at < $1", now - days * MICROS_PER_DAY)
    connection.commit()


def list_rejects(connection: ArrowConnection) -> Iterator[Reject]:
    """All rejects, by file and line."""
    # Ids first: the texts must not all be in memory, nor a reader stay open while someone pages
    # through the list.
    for some in _pages(connection, "ORDER BY file, line, reject_id"):
        rejects = {reject.reject_id: reject for reject in _read(connection, some)}
        yield from (rejects[number] for number in some if number in rejects)


def rejects_by_reason(connection: ArrowConnection) -> list[dict[str, Any]]:
    """`kind`, `reason` and `rows` of the rejects, the most frequent first. Reasons are without the
    values that they quote: one mistake of a producer is one reason."""
    rows: Counter[tuple[str, str]] = Counter()
    counted = connection.table(
        "SELECT kind, reason, COUNT(*) AS rows FROM reject GROUP BY kind, reason"
    ).to_pylist()
    for row in counted:
        rows[row["kind"], without_values(row["reason"])] += int(row["rows"])
    ordered = sorted(rows.items(), key=lambda item: (-item[1], item[0]))
    return [{"kind": kind, "reason": reason, "rows": count} for (kind, reason), count in ordered]


def retry_rejects(connection: ArrowConnection) -> Counts:
    """Import the kept text of each reject again; the counts.

    A row that is accepted now (or is a duplicate) is removed from the rejects in the transaction that
    writes it. A row that is refused again stays with its new reason; a text that is no row (the
    unreadable part of a file) stays as it is.
    """
    counts = Counts()
    asked = reject_retries.waiting(connection)
    for kind in KINDS.values():
        for some in _pages(connection, "WHERE kind = $1 ORDER BY reject_id", kind.name):
            _retry_page(connection, kind, _read(connection, some), counts)
    for shop_key, _ in asked:
        reject_retries.finish(connection, shop_key, now_micros())
    return counts


def retry_asked(run: JobRun) -> bool:
    """Retry the rejects of the shops that ask for it on their Data page, of each so many at most: the next
    refresh goes on. Returns whether any row was accepted. Raises Stopped after a signal.

    A shop whose rejects cannot be tried is told so on its page by those that are still there: it must not
    keep others waiting.
    """
    counts = Counts()
    for shop_key, tried_through in reject_retries.waiting(run.connection):
        try:
            _retry_of_shop(run, shop_key, tried_through, counts)
        except Exception as error:
            if is_outage(error):
                raise
            run.connection.rollback()
            say(f"a retry of rejects failed: {defect(error)}")
            reject_retries.finish(run.connection, shop_key, now_micros())
    return counts.read > counts.rejected


def _retry_of_shop(run: JobRun, shop_key: int, tried_through: int, counts: Counts) -> None:
    connection, tried = run.connection, 0
    which = f"WHERE shop_key = $1 AND reject_id > $2 ORDER BY reject_id LIMIT {_ROWS_A_REFRESH}"
    for some in _pages(connection, which, shop_key, tried_through):
        run.raise_if_stopped()
        rejects = _read(connection, some)
        for kind in KINDS.values():
            of_kind = [reject for reject in rejects if reject.kind == kind.name]
            _retry_page(connection, kind, of_kind, counts)
        reject_retries.advance(connection, shop_key, some[-1])
        tried += len(some)
    if tried < _ROWS_A_REFRESH:
        reject_retries.finish(connection, shop_key, now_micros())


def _retry_page(
    connection: ArrowConnection, kind: Kind, rejects: list[Reject], counts: Counts
) -> None:
    """Retry some rejects of a kind, those of the same format and shop together."""
    groups: dict[Group, list[Reject]] = {}
    for reject in rejects:
        group = reject.format, reject.shop_id, is_textual(reject.file)
        groups.setdefault(group, []).append(reject)
    for group, tried in groups.items():
        _retry(connection, kind, group, tried, counts)


def _retry(
    connection: ArrowConnection, kind: Kind, group: Group, tried: list[Reject], counts: Counts
) -> None:
    shops = load_shops(connection)
    chunk = _chunk(kind, group, tried, shops)
    columns = ChunkColumns(chunk)
    rows = kind.check(columns, shops)
    accepted, ids = columns.accepted(), chunk.lines
    written = Written()
    if accepted.any():
        written = kind.write(connection, rows.filter(pa.array(accepted)))
        _remove(connection, ids[accepted])
        connection.commit()
    reasons = {reject.reject_id: reject.reason for reject in tried}
    again = [
        (int(ids[row]), reason, certain_shop(shops, kind, columns, row))
        for row, reason in columns.refused()
    ]
    if chunk.format:
        shop_key = certain_shop(shops, kind, columns, -1)
        again += [(number, reason, shop_key) for number, _, reason in chunk.broken]
        counts.add_more(chunk.counted, written.more)
    _update_reasons(connection, [reject for reject in again if reject[1] != reasons[reject[0]]])
    counts.add(written, len(tried), len(tried) - int(accepted.sum()))


def _chunk(kind: Kind, group: Group, tried: list[Reject], shops: ImportedShops) -> Chunk:
    """The kept texts as rows; the numbers of their lines are the ids of the rejects."""
    name, shop_id, textual = group
    numbered = [(reject.reject_id, reject.text) for reject in tried]
    if not name:
        return chunk_of_texts(kind.field_names(), numbered, textual=textual)
    currency = shops.currencies.get(shops.keys.get(shop_id, 0), "")
    records = [(number, kept_record(text)) for number, text in numbered]
    kept = Records([(number, record) for number, record in records if record is not None])
    return mapping.chunk_of(FORMATS[name], kind, Target(shop_id, currency), kept)


def _remove(connection: ArrowConnection, ids: np.ndarray) -> None:
    staged = connection.stage("staged_done", pa.table({"reject_id": pa.array(ids)}))
    reject_retries.count_accepted(connection, staged)
    connection.execute(f"DELETE FROM reject WHERE reject_id IN (SELECT reject_id FROM {staged})")


def _update_reasons(connection: ArrowConnection, refused: list[tuple[int, str, int]]) -> None:
    """Store the new reasons of rejects, and the shops whose they are: a shop may be known by now."""
    if not refused:
        return
    ids, reasons, shop_keys = map(list, zip(*refused, strict=True))
    columns = {"reject_id": ids, "reason": reasons, "shop_key": shop_keys}
    staged = connection.stage("staged_reasons", pa.table(columns))
    connection.commit()  # the transaction must begin with a write (see `Kind.write`)
    connection.execute(
        f"UPDATE reject SET reason = s.reason, shop_key = s.shop_key FROM {staged} s "
        "WHERE s.reject_id = reject.reject_id"
    )
    connection.commit()


def _pages(connection: ArrowConnection, which: str, *values: Cell) -> Iterator[list[int]]:
    """The ids of some rejects, in pages that fit into memory with their texts."""
    found = connection.table(f"SELECT reject_id, LENGTH(text) AS size FROM reject {which}", *values)
    page: list[int] = []
    size = 0
    for number, length in zip(*found.to_pydict().values(), strict=True):
        if page and (len(page) == _ROWS or size + length > _TEXT):
            yield page
            page, size = [], 0
        page.append(number)
        size += length
    if page:
        yield page


def _read(connection: ArrowConnection, numbers: list[int]) -> list[Reject]:
    """The rejects of these ids that still exist. Commits, so that a write can come next."""
    listed = ", ".join(map(str, numbers)) or "0"
    rows = connection.rows_of(
        tables.reject,
        "SELECT reject_id, kind, format, shop_id, file, line, reason, text FROM reject "
        f"WHERE reject_id IN ({listed}) ORDER BY reject_id",
    )
    connection.commit()
    return [Reject(**row) for row in rows.to_pylist()]
