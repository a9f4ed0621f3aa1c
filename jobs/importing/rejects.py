"""Rejected rows: listed, retried, purged."""

import re
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
from jobs.importing.kinds.base import Counts, Kind, Written
from jobs.importing.shops import ImportedShops, load_shops
from jobs.importing.values.columns import ChunkColumns
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import MICROS_PER_DAY

# Rejects that are listed or retried at once, and the characters of their texts.
_ROWS: Final = 5_000
_TEXT: Final = 16 << 20

# The value in a reason (see `values.errors.quoted`).
_QUOTED: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<=: )[-+.\dE]+(?= )""")

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
        rows[row["kind"], _QUOTED.sub("…", row["reason"])] += int(row["rows"])
    ordered = sorted(rows.items(), key=lambda item: (-item[1], item[0]))
    return [{"kind": kind, "reason": reason, "rows": count} for (kind, reason), count in ordered]


def retry_rejects(connection: ArrowConnection, kind: Kind, counts: Counts) -> None:
    """Import the kept text of each reject of a kind again, and add to the counts.

    A row that is accepted now (or is a duplicate) is removed from the rejects in the transaction that
    writes it. A row that is refused again stays with its new reason; a text that is no row (the
    unreadable part of a file) stays as it is.
    """
    for some in _pages(connection, "WHERE kind = $1 ORDER BY reject_id", kind.name):
        groups: dict[Group, list[Reject]] = {}
        for reject in _read(connection, some):
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
    again = [(int(ids[row]), reason) for row, reason in columns.refused()]
    if chunk.format:
        again += [(number, reason) for number, _, reason in chunk.broken]
        counts.add_more(chunk.counted, written.more)
    _update_reasons(connection, [(id, reason) for id, reason in again if reason != reasons[id]])
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
    connection.execute(f"DELETE FROM reject WHERE reject_id IN (SELECT reject_id FROM {staged})")


def _update_reasons(connection: ArrowConnection, reasons: list[tuple[int, str]]) -> None:
    if not reasons:
        return
    ids, texts = zip(*reasons, strict=True)
    staged = connection.stage(
        "staged_reasons", pa.table({"reject_id": list(ids), "reason": list(texts)})
    )
    connection.commit()  # the transaction must begin with a write (see `Kind.write`)
    connection.execute(
        f"UPDATE reject SET reason = s.reason FROM {staged} s WHERE s.reject_id = reject.reject_id"
    )
    connection.commit()


def _pages(connection: ArrowConnection, which: str, *values: str) -> Iterator[list[int]]:
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
