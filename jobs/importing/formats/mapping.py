"""Records of another system as chunks of our rows."""

from collections.abc import Iterable, Iterator

import numpy as np

from jobs.importing.files.chunk import BrokenLine, Chunk
from jobs.importing.formats.base import Format, Record, Records, Row, Target
from jobs.importing.kinds.base import Kind
from jobs.importing.values.errors import InvalidValue, LostDigits


def chunks(format: Format, kind: Kind, target: Target, parts: Iterable[Records]) -> Iterator[Chunk]:
    """A chunk for each part of the records."""
    for records in parts:
        yield chunk_of(format, kind, target, records)


def chunk_of(format: Format, kind: Kind, target: Target, records: Records) -> Chunk:
    """Rows of the kind; their texts are those of the records, as far as they may be kept."""
    broken = list(records.broken)
    target.counted = dict.fromkeys(format.counts, 0)
    rows: list[Row] = []
    numbers: list[int] = []
    sources: list[Record] = []
    left_out: list[tuple[int, str, str]] = []
    refusal = ""
    for number, record in records.numbered:
        target.left_out = []
        try:
            row = format.row(record, target)
        except InvalidValue as cause:
            broken.append(BrokenLine(number, str(cause), format.kept_text(record)))
            if isinstance(cause, LostDigits):
                refusal = refusal or f"line {number}: {cause}"
            continue
        if row is not None:
            if target.left_out:
                left_out += [(len(rows), field, reason) for field, reason in target.left_out]
            rows.append(row)
            numbers.append(number)
            sources.append(record)
    shop = {"shop_id": target.shop_id} if format.needs_shop else {}
    # A format has more than the fields of its kind: the names of forms in tracking calls.
    names = dict.fromkeys((*kind.field_names(), *(place.field for place in format.source_fields)))
    return Chunk(
        {name: [row.get(name) for row in rows] for name in names}
        | {name: [value] * len(rows) for name, value in shop.items()},
        np.array(numbers, dtype=np.int64),
        lambda index: format.kept_text(sources[index]),
        broken=broken,
        position=records.position,
        format=format.name,
        shop_id=target.shop_id,
        counted=target.counted,
        left_out=left_out,
        unread=lambda index: format.unread(sources[index]),
        is_export=records.is_table,
        refusal=refusal,
    )
