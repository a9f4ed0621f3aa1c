"""Kept facts: all that figures need of raw events that RAW_DAYS removed (`pipeline/raw_days.py`).

They are the partial facts of these events (`partials.py`), folded by form session and identifiers: the events
of a session that carry the same visitor, customer and e-mail are one group. Merged with the partial facts of
the raw events that are left, they give what all events gave; and a person can be taken out of them exactly.

They are import batches: a new edition applies one like any other. Those of a batch are one cell: thousands of
shops have a few sessions a night. `kept_key` says in which cells a session or an e-mail address is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from jobs.arrays.group_keys import Column, group_keys, index_of
from jobs.facts import quarters, touched
from jobs.facts.fact_table_io import to_arrow
from jobs.facts.partials import Partials, fold, merge_partials
from jobs.facts.quarters import QUARTER
from jobs.facts.read_raw import (
    RawEvents,
    RulesByShop,
    chosen_texts,
    no_orders,
    rules_of,
    shop_ids,
)
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.form_rules import LEFT_OUT
from warehouse.domain.hash_ids import text_ids
from warehouse.domain.time import NEVER
from warehouse.editions.pending_batches import sql_list

IDENTIFIERS: Final = ("form_id", "visitor_id", "customer_id", "email_sha256", "page_path")
"""The texts that groups have from raw events, beside `form_session_id`."""

# The texts that name a form session in its shop.
_SESSION_TEXTS: Final = ("form_id", "form_session_id")

_CODEC: Final = "zstd"


@dataclass(frozen=True)
class KeptFacts:
    """Kept facts of a shop.

    - `groups`: group, session_hash, form, and the texts form_session_id and IDENTIFIERS
    - `sessions`, `steps`, `answers`, `issues`, `step_names`: as in `Partials`, with `group` in place of
      edition, session_hash, form and form_session_id
    - `instants`: group, at (the beginning of a quarter of an hour), events (how many)
    - `utms`: utm and the six texts of UTM_FIELDS; `texts`: id, text
    """

    groups: pd.DataFrame
    sessions: pd.DataFrame
    steps: pd.DataFrame
    answers: pd.DataFrame
    issues: pd.DataFrame
    step_names: pd.DataFrame
    instants: pd.DataFrame
    utms: pd.DataFrame
    texts: pd.DataFrame

    def only(self, wanted: pd.Series) -> "KeptFacts":
        """The facts of the groups for which `wanted` (a mask of `groups`) is true."""
        numbers = self.groups["group"][wanted]
        parts = {
            name: rows[rows["group"].isin(numbers)]
            for name, rows in vars(self).items()
            if "group" in rows
        }
        values = parts["answers"]["value"].unique()
        chosen = sorted({text for value in values for text in chosen_texts(value)})
        used = [
            *(parts["groups"]["form"], parts["steps"]["step"], parts["answers"]["field"]),
            *(parts["issues"]["code"], parts["sessions"]["variant"]),
            np.array(text_ids(chosen), np.int64),
        ]
        utms = self.utms[self.utms["utm"].isin(parts["sessions"]["utm"])]
        return KeptFacts(
            **parts, utms=utms, texts=self.texts[self.texts["id"].isin(np.concatenate(used))]
        )

    def counted(self, shop_key: int, rules: RulesByShop) -> "KeptFacts":
        """These facts of a shop under the ids of forms that count. A session can have several groups with the
        same identifiers then."""
        if shop_key not in rules:
            return self
        named = (self.groups[name].tolist() for name in ("form_id", "page_path"))
        ids = map(rules[shop_key].counted_as, *named)
        form_id = pd.Series(list(ids), self.groups.index, dtype="str")
        facts = replace(self, groups=self.groups.assign(form_id=form_id)).only(form_id != LEFT_OUT)
        groups = facts.groups
        forms = np.array(text_ids(groups["form_id"].tolist()), np.int64)
        parts = (pa.chunked_array([pa.array(groups[name], pa.string())]) for name in _SESSION_TEXTS)
        groups = groups.assign(
            session_hash=shop_ids(np.full(len(groups), shop_key, np.int64), *parts), form=forms
        )
        own = pd.DataFrame({"id": forms, "text": groups["form_id"]})
        texts = pd.concat([facts.texts, own], ignore_index=True)
        return replace(facts, groups=groups, texts=texts.drop_duplicates("id", ignore_index=True))

    def events(self, edition: int) -> pd.DataFrame:
        """edition, session_hash, form, at; a row per event, to the quarter of an hour."""
        rows = _with_session(self.groups, self.instants, "session_hash", "form")
        rows = rows.loc[np.repeat(rows.index, rows["events"])]
        return rows.drop(columns="events").assign(edition=edition)


class KeptBatch(NamedTuple):
    """The kept facts of an import batch."""

    batch_id: int
    shop_key: int
    facts: KeptFacts


def keep(raw: RawEvents, identifiers: pd.DataFrame) -> dict[int, KeptFacts]:
    """The facts of raw events, by edition. `identifiers`: edition, event_id and IDENTIFIERS."""
    events = raw.events.drop(columns="customer_id").merge(identifiers, on=["edition", "event_id"])
    keys = group_keys(
        *(events[name].to_numpy() for name in ("session_hash", "visitor", "customer", "email")),
        pd.factorize(events["page_path"])[0],
    )
    groups = keys.dense()
    group, rows = groups.keys, events.iloc[groups.any_row()].reset_index(drop=True)
    of_group = events.assign(edition=0, session_hash=group, form=group)
    facts = fold(replace(raw, events=of_group), no_orders())
    begun = events["at"].to_numpy() // QUARTER * QUARTER
    instants = pd.DataFrame({"group": group, "at": begun, "events": 1})

    def by_group(rows: pd.DataFrame, name: str = "session_hash") -> pd.DataFrame:
        rows = rows.rename(columns={name: "group"})
        return rows.drop(columns=["edition", "form", "form_session_id"], errors="ignore")

    kept = KeptFacts(
        groups=rows[["session_hash", "form", "form_session_id", *IDENTIFIERS]].assign(
            group=np.arange(len(rows))
        ),
        sessions=by_group(facts.sessions),
        steps=by_group(facts.steps),
        answers=by_group(facts.answers),
        issues=by_group(facts.issues),
        step_names=by_group(facts.step_names, "form"),
        instants=instants.groupby(["group", "at"], as_index=False).sum(),
        utms=raw.utms,
        texts=raw.texts,
    )
    found = {}
    for edition in rows["edition"].unique():
        own = {
            name: part[part["edition"] == edition].drop(columns="edition")
            for name, part in (("utms", raw.utms), ("texts", raw.texts))
        }
        found[edition] = replace(kept.only(rows["edition"] == edition), **own)
    return found


def joined(parts: Sequence[KeptFacts]) -> KeptFacts:
    """Several kept facts as one. Its groups are theirs, in their order; a session can have several with the
    same identifiers."""
    sizes = [part.groups["group"].max() + 1 if len(part.groups) else 0 for part in parts]
    before = np.cumsum([0, *sizes[:-1]])
    stacked = {}
    for field in fields(KeptFacts):
        rows = [getattr(part, field.name) for part in parts]
        stacked[field.name] = both = pd.concat(rows, ignore_index=True)
        if "group" in both:
            both["group"] += np.repeat(before, [len(one) for one in rows])
    for name, key in (("utms", "utm"), ("texts", "id")):
        stacked[name] = stacked[name].drop_duplicates(key, ignore_index=True)
    return KeptFacts(**stacked)


def with_kept(partials: Partials, kept: Iterable[tuple[int, KeptFacts]]) -> Partials:
    """Partial facts merged with kept ones, each of an edition."""
    parts = list(kept)
    return merge_partials([partials, _partials(parts, partials)]) if parts else partials


def _partials(parts: list[tuple[int, KeptFacts]], others: Partials) -> Partials:
    """Kept facts as partial facts of their editions; a session can have several rows."""
    kept = joined([facts for _, facts in parts])
    numbers = np.repeat([edition for edition, _ in parts], [len(one.groups) for _, one in parts])
    groups = kept.groups.assign(edition=numbers)
    sessions = _with_session(
        groups, kept.sessions, "edition", "session_hash", "form", "form_session_id", "customer_id"
    )
    is_sighting = (sessions["email"] != 0) & (sessions["customer_seen"] != 0)
    emails = sessions.assign(seen_at=sessions["email_at"], customer=sessions["customer_seen"])
    found = {
        "sessions": sessions,
        "steps": _with_session(groups, kept.steps, "session_hash"),
        "answers": _with_session(groups, kept.answers, "session_hash"),
        "issues": _with_session(groups, kept.issues, "session_hash"),
        "emails": emails[is_sighting],
        "step_names": _with_session(groups, kept.step_names, "edition", "form"),
        "utms": pd.concat([facts.utms.assign(edition=edition) for edition, facts in parts]),
        "texts": pd.concat([facts.texts.assign(edition=edition) for edition, facts in parts]),
    }
    return replace(
        others, **{name: rows[list(getattr(others, name))] for name, rows in found.items()}
    )


def _with_session(groups: pd.DataFrame, rows: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Rows with these columns of their groups in place of `group`."""
    index = index_of(groups["group"].to_numpy(), rows["group"].to_numpy())
    own = {name: groups[name].array.take(index) for name in names}
    return rows.drop(columns="group").assign(**own)


def read(
    connection: ArrowConnection, shops: Iterable[int], condition: str = "true"
) -> Iterator[KeptBatch]:
    """The kept facts of shops that meet an SQL condition on `kept_facts`, batch by batch, under the ids
    of forms that were imported."""
    batches = connection.table(
        f"SELECT batch_id FROM kept_facts WHERE shop_key IN ({sql_list(shops)}) AND {condition} "
        "ORDER BY batch_id"
    )
    for batch_id in batches.column(0).to_pylist():
        (row,) = connection.table(
            "SELECT shop_key, content FROM kept_facts WHERE batch_id = $1", batch_id
        ).to_pylist()
        yield KeptBatch(batch_id, row["shop_key"], _decoded(row["content"]))


def read_counted(
    connection: ArrowConnection, editions: Mapping[int, int], condition: str = "true"
) -> Iterator[KeptBatch]:
    """Kept facts, as `read` gives them, under the ids of forms that count. `editions`: the edition of each
    shop key."""
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
        for _, shop_key, facts in read_counted(connection, editions, own)
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
    return to_arrow(pd.concat(keys), touched.SESSION.split(", ")) if keys else None


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
    connection.append("kept_key", to_arrow(rows, list(rows)))


def _encoded(kept: KeptFacts) -> bytes:
    """A table of one row, which has a list for each column of each part."""
    cells = {}
    for part in fields(kept):
        rows: pd.DataFrame = getattr(kept, part.name)
        for name, column in zip(rows, to_arrow(rows, list(rows)).columns, strict=True):
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
    kept = KeptFacts(**{part: pa.table(columns).to_pandas() for part, columns in parts.items()})
    # A cell may be from before events had a path, or sessions a variant.
    if "page_path" not in kept.groups:
        kept = replace(kept, groups=kept.groups.assign(page_path=""))
    if "variant" not in kept.sessions:
        none = {"variant": 0, "variant_at": NEVER, "variant_event": ""}
        texts = quarters.of_instants(kept.instants, kept.sessions["group"])
        kept = replace(kept, sessions=kept.sessions.assign(quarters=texts, **none))
    return kept
