"""Kept facts read from the warehouse and written back.

Those of a batch are one cell: thousands of shops have a few sessions a night, and nothing looks one up.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields

import pandas as pd
import pyarrow as pa

from jobs.facts import fact_table_io
from jobs.facts.form_rules import rules_of
from jobs.facts.kept_facts import QUARTER, KeptFacts
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection

_CODEC = "zstd"


def read(
    connection: ArrowConnection, editions: Mapping[int, int], condition: str = "true"
) -> Iterator[tuple[int, int, KeptFacts]]:
    """The kept facts of shops that meet an SQL condition on `kept_facts`, batch by batch: batch_id, edition,
    facts. `editions`: the edition of each shop key, under whose rules on forms they are told; 0 for none."""
    shops = ", ".join(map(str, editions))
    rules = rules_of(connection, editions.values())
    batches = connection.table(
        f"SELECT batch_id FROM kept_facts WHERE shop_key IN ({shops}) AND {condition} ORDER BY batch_id"
    )
    for batch_id in batches.column(0).to_pylist():
        (row,) = connection.table(
            "SELECT shop_key, content FROM kept_facts WHERE batch_id = $1", batch_id
        ).to_pylist()
        shop_key = row["shop_key"]
        yield batch_id, editions[shop_key], _decoded(row["content"]).counted(shop_key, rules)


def read_sessions(
    connection: ArrowConnection,
    editions: Mapping[int, int],
    sessions: pd.DataFrame,
    condition: str = "true",
) -> Iterator[tuple[int, int, KeptFacts]]:
    """The same of some form sessions (edition, session_hash), which are stored in these editions."""
    stored = fact_table_io.load(
        connection, tables.fact_form_session, sessions, columns=["session_hash", "first_at"]
    )
    if stored.empty:
        return
    # No event of a session is before its first.
    since = f"last_at >= {stored['first_at'].min()}"
    for batch_id, edition, kept in read(connection, editions, f"{condition} AND {since}"):
        wanted = kept.groups["session_hash"].isin(stored["session_hash"])
        if wanted.any():
            yield batch_id, edition, kept.only(wanted)


def write(connection: ArrowConnection, batch_id: int, shop_key: int, kept: KeptFacts) -> None:
    """Store kept facts as those of an import batch, in place of those that it had. The caller commits."""
    connection.execute("DELETE FROM kept_facts WHERE batch_id = $1", batch_id)
    if kept.groups.empty:
        return
    row = {
        "batch_id": batch_id,
        "shop_key": shop_key,
        "first_at": int(kept.instants["at"].min()),
        "last_at": int(kept.instants["at"].max()) + QUARTER - 1,
        "content": _encoded(kept),
    }
    connection.append("kept_facts", pa.Table.from_pylist([row]))


def _encoded(kept: KeptFacts) -> bytes:
    """A table of one row, which has a list for each column of each part."""
    cells = {}
    for part in fields(kept):
        rows: pd.DataFrame = getattr(kept, part.name)
        for name, column in zip(
            rows, fact_table_io.to_arrow(rows, list(rows)).columns, strict=True
        ):
            ends = pa.array([0, len(rows)], pa.int32())
            cells[f"{part.name}.{name}"] = pa.ListArray.from_arrays(ends, column.combine_chunks())
    table = pa.table(cells)
    sink = pa.BufferOutputStream()
    with (
        pa.CompressedOutputStream(sink, _CODEC) as stream,
        pa.ipc.new_stream(stream, table.schema) as writer,
    ):
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def _decoded(content: bytes) -> KeptFacts:
    with pa.CompressedInputStream(pa.BufferReader(content), _CODEC) as stream:
        table = pa.ipc.open_stream(stream).read_all()
    parts: dict[str, dict[str, pa.Array]] = {}
    for cell in table.column_names:
        part, _, name = cell.partition(".")
        parts.setdefault(part, {})[name] = table[cell].combine_chunks().flatten()
    return KeptFacts(**{part: pa.table(columns).to_pandas() for part, columns in parts.items()})
