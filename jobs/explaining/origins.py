"""Facts and the raw rows behind them, as people read them: with texts and times in place of numbers."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from jobs.facts.kept_facts import of_keys
from jobs.facts.read_raw import counts, read_events, shop_ids
from warehouse import tables
from warehouse.catalogue import MILESTONES
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import NEVER, day_date, day_start, iso_millis
from warehouse.domain.vocabulary import (
    ATTRIBUTION_TYPES,
    CUSTOMER_TYPES,
    DEVICES,
    EVENT_TYPES,
    UTM_FIELDS,
)
from warehouse.editions.editions import Edition
from warehouse.editions.pending_batches import sql_list
from warehouse.editions.zone_rules import zone_of

# Why an order is credited as it is, in the order of the types.
_RULES: Final = (
    "the latest submission that was issued a code of the order, a nearer person's first",
    "no code decides: the latest submission of the same customer",
    "neither a code nor a customer decides: the latest submission of the same visitor",
    "no submission in the window matches by code, customer or visitor",
)
_WORDS: Final = {"device": DEVICES, "type": ATTRIBUTION_TYPES, "customer_type": CUSTOMER_TYPES}
_DAYS: Final = ("submitted", "previous")
_INSTANTS: Final = (*(one.instant for one in MILESTONES), "submitted_at")
# Dimensions that are numbers themselves.
_NUMBERS: Final = ("delay", "bucket", "kind")


class Origins:
    """The texts, facts and raw rows behind the ids of one edition."""

    def __init__(self, connection: ArrowConnection, edition: Edition) -> None:
        self._connection, self._edition = connection, edition
        self._editions = {edition.shop_key: edition.edition}

    def dimensions(self, rows: pd.DataFrame, dims: Collection[str]) -> list[dict[str, Any]]:
        """The dimensions of daily rows, a dictionary a row."""
        found: dict[str, Mapping[int, Any]] = {}
        for dim in dims:
            ids = sorted(set(rows[dim].tolist()))
            if dim in _WORDS:
                found[dim] = {id: _WORDS[dim][id] for id in ids}
            elif dim in _DAYS:
                found[dim] = {id: f"{day_date(id)}" if id >= 0 else None for id in ids}
            elif dim == "utm":
                utms = self._rows(tables.dim_utm, f"utm IN ({sql_list(sorted({0, *ids}))})")
                found[dim] = {
                    utm["utm"]: {name: utm[name] for name in UTM_FIELDS if utm[name]}
                    for utm in utms
                }
            elif dim not in _NUMBERS:
                found[dim] = self._texts(ids)
        return [
            {
                dim: found[dim].get(value, value) if dim in found else value
                for dim, value in zip(dims, values, strict=True)
            }
            for values in rows[list(dims)].to_numpy().tolist()
        ]

    def sessions(self, ids: Collection[int]) -> dict[int, dict[str, Any]]:
        """Form sessions by id, with their raw events and the cells of kept facts that have more of them."""
        table = tables.fact_form_session
        rows = self._rows(table, f"session IN ({sql_list(ids)})") if ids else []
        forms = self._texts({row["form"] for row in rows})
        # The raw events, by the hash of the session that they count for.
        events: dict[int, list[dict[str, Any]]] = defaultdict(list)
        staged = self._staged([row["form_session_id"] for row in rows])
        raw = self._raw_events(f"r.form_session_id IN (SELECT id FROM {staged})")
        for hash, event in zip(raw["session_hash"].tolist(), self._shown(raw), strict=True):
            events[hash].append(event)
        kept = self._kept([row["form_session_id"] for row in rows])
        return {
            row["session"]: {
                "form": forms[row["form"]],
                "form_session_id": row["form_session_id"],
                **{name: iso_millis(row[name]) for name in _INSTANTS if row[name] != NEVER},
                "events": events[row["session_hash"]],
                "kept": kept.get(row["form_session_id"], []),
            }
            for row in rows
        }

    def orders(self, ids: Collection[int]) -> dict[int, dict[str, Any]]:
        """Orders by id, with what decided to whom they are credited, and their raw versions."""
        rows = self._rows(tables.fact_order, f'"order" IN ({sql_list(ids)})') if ids else []
        # The raw versions, the standing one first.
        versions: dict[str, list[dict[str, Any]]] = defaultdict(list)
        staged = self._staged([row["order_id"] for row in rows])
        raw = self._connection.table(
            "SELECT r.order_id, r.updated_at, r.batch_id FROM raw_order r "
            f"WHERE r.shop_key = {self._edition.shop_key} AND r.order_id IN (SELECT id FROM {staged}) "
            f"AND {counts('r.batch_id', self._editions, ())} "
            "ORDER BY r.updated_at DESC, r.precedence DESC, r.content DESC"
        ).to_pandas()
        imports = self._imports(raw["batch_id"])
        for row in raw.to_dict("records"):
            version = {"updated_at": iso_millis(row["updated_at"]), **imports[row["batch_id"]]}
            versions[row["order_id"]].append(version)
        forms = self._texts({row["form"] for row in rows})
        return {
            row["order"]: {
                "order_id": row["order_id"],
                "created_at": iso_millis(row["created_at"]),
                "gross": row["gross"],
                "refunded": row["refunded"],
                "cancelled": bool(row["cancelled"]),
                "customer_type": CUSTOMER_TYPES[row["customer_type"]],
                "credited": ATTRIBUTION_TYPES[row["type"]],
                "rule": _RULES[row["type"]],
                "form": forms.get(row["form"]),
                "versions": versions[row["order_id"]],
            }
            for row in rows
        }

    def events_of_day(self, day: int, form: str) -> list[dict[str, Any]]:
        """The raw events of a day, of one form where it is named."""
        edition = self._edition
        rules = zone_of(self._connection, edition.zone_version, edition.timezone)
        low, high = day_start(day, rules), day_start(day + 1, rules)
        condition = f"r.occurred_at >= {low} AND r.occurred_at < {high}"
        rows = self._raw_events(condition)
        if form:
            rows = rows[rows["form"] == text_id(form)]
        return self._shown(rows)

    def _rows(self, table: Any, condition: str) -> list[dict[str, Any]]:
        sql = f"SELECT {names([column.name for column in table.columns])} FROM {table.name} "
        own = f"WHERE edition = {self._edition.edition} AND {condition}"
        return self._connection.rows_of(table, sql + own).to_pylist()

    def _texts(self, ids: Iterable[int]) -> dict[int, str]:
        listed = sql_list(sorted({0, *ids}))
        rows = self._rows(tables.dim_text, f"id IN ({listed})")
        return {row["id"]: row["text"] for row in rows}

    def _staged(self, texts: list[str]) -> str:
        return self._connection.stage(
            "staged_texts", pa.table({"id": pa.array(texts, pa.string())})
        )

    def _raw_events(self, condition: str) -> pd.DataFrame:
        own = f"r.shop_key = {self._edition.shop_key} AND {condition}"
        applied = counts("r.batch_id", self._editions, ())
        rows = read_events(self._connection, f"{own} AND {applied}", self._editions).events
        return rows.sort_values(["at", "event_id"])

    def _shown(self, rows: pd.DataFrame) -> list[dict[str, Any]]:
        imports = self._imports(rows["batch"])
        columns = (rows[name].tolist() for name in ("event_id", "type", "at", "batch"))
        return [
            {"event_id": id, "type": EVENT_TYPES[type], "at": iso_millis(at), **imports[batch]}
            for id, type, at, batch in zip(*columns, strict=True)
        ]

    def _kept(self, sessions: list[str]) -> dict[str, list[dict[str, Any]]]:
        """The cells of kept facts that have something of form sessions, by session."""
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        if not sessions:
            return found
        shops = np.full(len(sessions), self._edition.shop_key, np.int64)
        keys = shop_ids(shops, pa.chunked_array([pa.array(sessions, pa.string())]))
        own = f"shop_key = {self._edition.shop_key}"
        cells = self._connection.table(
            f"SELECT batch_id, first_at, last_at FROM kept_facts WHERE {own} "
            f"AND {of_keys(self._connection, keys)}"
        ).to_pylist()
        if not cells:
            return found
        spans = {row["batch_id"]: row for row in cells}
        by_key = dict(zip(keys.tolist(), sessions, strict=True))
        rows = self._connection.table(
            f"SELECT key_hash, batch_id FROM kept_key WHERE {own} AND key_hash IN ({sql_list(by_key)}) "
            "ORDER BY batch_id"
        ).to_pylist()
        for row in rows:
            if span := spans.get(row["batch_id"]):
                first, last = iso_millis(span["first_at"]), iso_millis(span["last_at"])
                cell = {"batch": row["batch_id"], "first": first, "last": last}
                found[by_key[row["key_hash"]]].append(cell)
        return found

    def _imports(self, batches: pd.Series) -> dict[int, dict[str, Any]]:
        """The import and the file that brought each batch, where the warehouse still knows them."""
        ids = sorted(set(batches.tolist()))
        if not ids:
            return {}
        rows = self._connection.table(
            "SELECT b.batch_id, b.import_id, f.file FROM import_batch b "
            f"LEFT JOIN import_file f ON f.import_id = b.import_id WHERE b.batch_id IN ({sql_list(ids)})"
        ).to_pylist()
        known = {row["batch_id"]: row for row in rows}
        return {
            id: {
                "import": known[id]["import_id"] if id in known else None,
                "file": known[id]["file"] if id in known else None,
            }
            for id in ids
        }
