"""Records of a foreign format as portions of the contract's rows."""

from collections.abc import Iterable, Iterator

import numpy as np

from jobs.importing.cells import Malformed
from jobs.importing.formats.format import Format, Row, Target
from jobs.importing.formats.keeping import kept_text
from jobs.importing.formats.records import Record, Records
from jobs.importing.kind import Kind
from jobs.importing.portion import HIDDEN, Broken, Portion


def portions(
    format: Format, kind: Kind, target: Target, records: Iterable[Records]
) -> Iterator[Portion]:
    """Each of some records as a portion."""
    for some in records:
        yield portion(format, kind, target, some)


def portion(format: Format, kind: Kind, target: Target, records: Records) -> Portion:
    """Rows of the kind; the texts are those of the records, as far as they may be kept. Of what is
    no record nothing is: which part of it is personal cannot be told."""
    broken = [one._replace(text=HIDDEN) for one in records.broken]
    target.counted = dict.fromkeys(format.counts, 0)
    rows: list[Row] = []
    lines: list[int] = []
    sources: list[Record] = []
    for line, record in records.found:
        try:
            row = format.row(record, target)
        except Malformed as cause:
            broken.append(Broken(line, kept_text(format, record), str(cause)))
            continue
        if row is not None:
            rows.append(row)
            lines.append(line)
            sources.append(record)
    shop = {"shop_id": target.shop_id} if format.of_shop else {}
    return Portion(
        {name: [row.get(name) for row in rows] for name in kind.fields}
        | {name: [value] * len(rows) for name, value in shop.items()},
        np.array(lines, dtype=np.int64),
        lambda place: kept_text(format, sources[place]),
        broken=broken,
        position=records.position,
        format=format.name,
        shop_id=target.shop_id,
        counted=target.counted,
    )
