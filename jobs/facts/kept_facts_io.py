"""Kept facts read from the warehouse and written back.

Those of a batch are one cell: thousands of shops have a few sessions a night. `kept_key` says in which cells
a session or an e-mail address is.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from jobs.arrays.group_keys import Column
from jobs.facts import fact_table_io, touched
from jobs.facts.form_rules import rules_of
from jobs.facts.kept_facts import QUARTER, KeptFacts
from jobs.facts.read_raw import shop_ids
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.editions.pending_batches import sql_list

_CODEC = "zstd"


class KeptBatch(NamedTuple):
    """The kept facts of an import batch; `digest`: of the cell as it is stored."""

    batch_id: int
    shop_key: int
    facts: KeptFacts
    digest: bytes


def read(
    connection: ArrowConnection,
    shops: Iterable[int],
    condition: str = "true",
    skipping: Collection[bytes] = (),
) -> Iterator[KeptBatch]:
    """The kept facts of shops that meet an SQL condition on `kept_facts`, batch by batch, under the ids
    of forms that were imported; without the cells that have one of these digests."""
    batches = connection.table(
        f"SELECT batch_id FROM kept_facts WHERE shop_key IN ({sql_list(shops)}) AND {condition} "
        "ORDER BY batch_id"
    )
    for batch_id in batches.column(0).to_pylist():
        (row,) = connection.table(
            "SELECT shop_key, content FROM kept_facts WHERE batch_id = $1", batch_id
        ).to_pylist()
        digest = hashlib.blake2b(row["content"], digest_size=16).digest()
        if digest not in skipping:
            yield KeptBatch(batch_id, row["shop_key"], _decoded(row["content"]), digest)


def read_counted(
    connection: ArrowConnection, editions: Mapping[int, int], condition: str = "true"
) -> Iterator[KeptBatch]:
    """The same under the ids of forms that count. `editions`: the edition of each shop key."""
    rules = rules_of(connection, editions.values())
    for kept in read(connection, editions, condition):
        yield kept._replace(facts=kept.facts.counted(kept.shop_key, rules))


def of_touched(
    connection: ArrowConnection, editions: Mapping[int, int], condition: str = "true"
) -> list[tuple[int, KeptFacts]]:
    """The kept facts of the touched form sessions (`touched.py`), as far as they meet an SQL condition on
    `kept_facts`: edition, facts. `editions`: the edition of each shop key. No other cell is read."""
    own = f"shop_key IN ({sql_list(editions)})"
    if connection.value(f"SELECT 1 FROM kept_facts WHERE {own} LIMIT 1") is None:
        return []
    rows = connection.rows_of(
        tables.raw_event, f"SELECT {touched.SESSION} FROM {touched.SESSIONS} WHERE {own}"
    )
    sessions = shop_ids(rows["shop_key"].to_numpy(), rows["form_session_id"])
    own = f"{of_keys(connection, sessions)} AND {condition}"
    return [
        (editions[shop_key], facts.only(np.isin(_session_hashes(shop_key, facts), sessions)))
        for _, shop_key, facts, _ in read_counted(connection, editions, own)
    ]


def of_keys(connection: ArrowConnection, keys: Column) -> str:
    """The condition on `kept_facts` that a cell has something of these form sessions or e-mail addresses
    (their hashes), which are staged."""
    staged = connection.stage("staged_keys", pa.table({"key_hash": keys}))
    return (
        f"batch_id IN (SELECT s.batch_id FROM {staged} k CROSS JOIN kept_key s "
        "WHERE s.key_hash = k.key_hash)"
    )


def _session_hashes(shop_key: int, kept: KeptFacts) -> Column:
    """The hash of each group's session, whichever form it counts for."""
    ids = pa.chunked_array([pa.array(kept.groups["form_session_id"], pa.string())])
    return shop_ids(np.full(len(kept.groups), shop_key, np.int64), ids)


def session_keys(kept: Sequence[KeptBatch]) -> pa.Table | None:
    """The form sessions of kept facts, in the columns `touched.SESSION`; none of no facts."""
    keys = [one.facts.groups.assign(shop_key=one.shop_key) for one in kept]
    return fact_table_io.to_arrow(pd.concat(keys), touched.SESSION.split(", ")) if keys else None


def write(connection: ArrowConnection, batch_id: int, shop_key: int, kept: KeptFacts) -> None:
    """Store kept facts as those of an import batch, in place of those that it had. The caller commits."""
    for table in ("kept_facts", "kept_key"):
        connection.execute(f"DELETE FROM {table} WHERE batch_id = $1", batch_id)
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
    emails = kept.sessions["email"].to_numpy()
    keys = np.unique(np.concatenate([_session_hashes(shop_key, kept), emails[emails != 0]]))
    rows = pd.DataFrame({"key_hash": keys}).assign(batch_id=batch_id, shop_key=shop_key)
    connection.append("kept_key", fact_table_io.to_arrow(rows, list(rows)))


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
