"""Rows that could not be taken: listed, tried again, purged."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from jobs.importing import ndjson
from jobs.importing.checks import Checks
from jobs.importing.formats import FORMATS, mapping
from jobs.importing.formats.format import Target
from jobs.importing.formats.keeping import kept_record
from jobs.importing.formats.records import Records
from jobs.importing.kind import Counts, Kind, Written
from jobs.importing.portion import Portion
from jobs.importing.shops import Shops, load_shops
from jobs.importing.sources import is_textual
from warehouse import tables
from warehouse.bulk import Bulk
from warehouse.days import MICROS_PER_DAY

# Rejects that are listed or tried again at once.
_ROWS = 5_000

# Format, shop, whether numbers may be written as text.
Group = tuple[str, str, bool]


@dataclass(frozen=True)
class Reject:
    """A row that could not be taken: where it stood, why, and its text. `format` and `shop_id`: see
    `Portion`."""

    reject_id: int
    kind: str
    format: str
    shop_id: str
    file: str
    line: int
    reason: str
    text: str


def purge_rejects(bulk: Bulk, now: int, days: int) -> None:
    """Delete the rejects that are older than so many days. Commits."""
    bulk.execute("DELETE FROM reject WHERE rejected_at < $1", now - days * MICROS_PER_DAY)
    bulk.commit()


def list_rejects(bulk: Bulk) -> Iterator[Reject]:
    """All rejects, by file and line."""
    # Ids first: texts are long, and must not all be in memory; nor may a reader stay open for as
    # long as someone pages through the list.
    ids = bulk.table("SELECT reject_id FROM reject ORDER BY file, line, reject_id").column(0)
    numbers = ids.to_pylist()
    for start in range(0, len(numbers), _ROWS):
        some = numbers[start : start + _ROWS]
        found = {reject.reject_id: reject for reject in _read(bulk, some)}
        yield from (found[number] for number in some if number in found)


def retry_rejects(bulk: Bulk, kind: Kind, counts: Counts) -> None:
    """Run the kept text of each reject of a kind through it again; adds to the counts.

    What is taken now (or is a duplicate of what was) is removed from the rejects in the transaction
    that writes it. What is refused again stays, with the reason of now; a text that is no row (the
    unreadable part of a file) stays as it is.
    """
    numbers = (
        bulk.table("SELECT reject_id FROM reject WHERE kind = $1 ORDER BY reject_id", kind.name)
        .column(0)
        .to_pylist()
    )
    for start in range(0, len(numbers), _ROWS):
        groups: dict[Group, list[Reject]] = {}
        for reject in _read(bulk, numbers[start : start + _ROWS]):
            group = reject.format, reject.shop_id, is_textual(reject.file)
            groups.setdefault(group, []).append(reject)
        for group, tried in groups.items():
            _retry(bulk, kind, group, tried, counts)


def _retry(bulk: Bulk, kind: Kind, group: Group, tried: list[Reject], counts: Counts) -> None:
    shops = load_shops(bulk)
    portion = _portion(kind, group, tried, shops)
    checks = Checks(portion)
    rows = kind.check(checks, shops)
    good, ids = checks.good(), portion.lines
    written = Written()
    if good.any():
        written = kind.write(bulk, rows.filter(pa.array(good)))
        _remove(bulk, ids[good])
        bulk.commit()
    reasons = {reject.reject_id: reject.reason for reject in tried}
    again = [(int(ids[row]), reason) for row, reason in checks.refused()]
    if portion.format:
        again += [(number, reason) for number, _, reason in portion.broken]
        counts.count(portion.counted, written.more)
    _give_reasons(bulk, [(number, why) for number, why in again if why != reasons[number]])
    counts.add(written, len(tried), len(tried) - int(good.sum()))


def _portion(kind: Kind, group: Group, tried: list[Reject], shops: Shops) -> Portion:
    """The kept texts as rows. The number of a "line" is the reject's own, by which it is found."""
    name, shop_id, textual = group
    numbered = [(reject.reject_id, reject.text) for reject in tried]
    if not name:
        return ndjson.portion_of(kind.fields, numbered, textual=textual)
    currency = shops.currencies.get(shops.keys.get(shop_id, 0), "")
    records = [(number, kept_record(text)) for number, text in numbered]
    found = Records([(number, record) for number, record in records if record is not None])
    return mapping.portion(FORMATS[name], kind, Target(shop_id, currency), found)


def _remove(bulk: Bulk, ids: np.ndarray) -> None:
    staged = bulk.stage("staged_done", pa.table({"reject_id": pa.array(ids)}))
    bulk.execute(f"DELETE FROM reject WHERE reject_id IN (SELECT reject_id FROM {staged})")


def _give_reasons(bulk: Bulk, reasons: list[tuple[int, str]]) -> None:
    if not reasons:
        return
    ids, texts = zip(*reasons, strict=True)
    staged = bulk.stage("staged_reasons", pa.table({"reject_id": list(ids), "reason": list(texts)}))
    bulk.commit()  # so that the transaction begins with a write (see `Kind.write`)
    bulk.execute(
        f"UPDATE reject SET reason = s.reason FROM {staged} s WHERE s.reject_id = reject.reject_id"
    )
    bulk.commit()


def _read(bulk: Bulk, numbers: list[int]) -> list[Reject]:
    """The rejects of these ids that are still there. Commits, so that a write can come next."""
    listed = ", ".join(map(str, numbers)) or "0"
    rows = bulk.rows_of(
        tables.reject,
        "SELECT reject_id, kind, format, shop_id, file, line, reason, text FROM reject "
        f"WHERE reject_id IN ({listed}) ORDER BY reject_id",
    )
    bulk.commit()
    return [Reject(**row) for row in rows.to_pylist()]
