"""The events that decide what an e-mail resolves to and how a step is called: the latest of each."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

from jobs.arrays.group_keys import Column
from jobs.facts import kept_facts_io, read_raw
from jobs.facts.form_rules import RulesByShop, counted, rules_of
from jobs.facts.kept_facts import KeptFacts, with_kept
from jobs.facts.partials import (
    NOTHING_REMOVED,
    Partials,
    Removed,
    fold,
    merge_emails,
    merge_step_names,
)
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.hash_ids import text_id
from warehouse.domain.vocabulary import STEP_COMPLETE, STEP_VIEW
from warehouse.editions.pending_batches import is_applied, sql_list

# Raw rows among which the latest are looked for at once.
_ROWS_AT_ONCE: Final = 400_000
_EMAIL: Final = "shop_key, email_sha256"
_STEP: Final = "shop_key, form_id, step_id"
_EMAILS, _STEPS = "staged_emails", "staged_steps"


def latest_events(events: str, emails: str, steps: str) -> str:
    """A query of shop_key and event_id, of the raw events that meet a condition: the latest sighting of each
    of these e-mails with a customer, and for each of these steps the latest event and the latest with a name.

    `emails`, `steps`: queries of shop_key and email_sha256, and of shop_key, form_id and step_id.
    """
    by_email = (
        f"WHERE {events} AND customer_id <> '' AND ({_EMAIL}) IN ({emails})",
        # Those of a form may not count.
        f"PARTITION BY {_EMAIL}, form_id ORDER BY occurred_at DESC, customer_id DESC",
    )
    by_step = (
        f"WHERE {events} AND type IN ({STEP_VIEW}, {STEP_COMPLETE}) "
        # Those of all forms: events of another one may count as its.
        f"AND (shop_key, step_id) IN (SELECT shop_key, step_id FROM ({steps}) s)",
        # The latest event has the index, and the latest that has a name the name.
        f"PARTITION BY {_STEP}, step_name = '' ORDER BY occurred_at DESC, event_id DESC",
    )
    return " UNION ALL ".join(
        f"SELECT shop_key, event_id FROM (SELECT shop_key, event_id, ROW_NUMBER() OVER ({window}) AS place "
        f"FROM raw_event {rows}) t WHERE place = 1"
        for rows, window in (by_email, by_step)
    )


def with_latest(
    connection: ArrowConnection,
    by_shop: Mapping[int, int],
    partials: Partials,
    events: str,
    orders: str,
) -> tuple[Partials, Removed]:
    """Partial facts with the latest sighting of each of their e-mails and the latest names of each of their
    steps, from all applied raw events and kept facts; and these e-mails and steps, of which nothing that is
    stored counts then.

    `by_shop`: the edition of each shop key; `events`, `orders`: the conditions on raw rows that have the
    e-mails and steps.
    """
    rules = rules_of(connection, by_shop.values())
    decided = _stage_decided(connection, by_shop, events, orders, rules)
    no_orders = read_raw.read_orders(connection, "false", by_shop)
    found = []
    for spanned in _spans(connection, by_shop):
        latest = latest_events(
            f"{spanned} AND {is_applied(sql_list(by_shop.values()))}",
            f"SELECT {_EMAIL} FROM {_EMAILS}",
            f"SELECT {_STEP} FROM {_STEPS}",
        )
        condition = f"(shop_key, event_id) IN ({latest})"
        found.append(fold(read_raw.read_events(connection, condition, by_shop), no_orders))
    kept = [
        (edition, facts.only(_names_any(facts, decided)))
        for _, edition, facts in kept_facts_io.read(connection, by_shop)
    ]
    found.append(with_kept(partials, kept))

    def with_found(name: str, column: str, wanted: pd.DataFrame) -> pd.DataFrame:
        rows = pd.concat([getattr(part, name) for part in found], ignore_index=True)
        rows = rows[rows[column].isin(wanted[column])]
        return pd.concat([getattr(partials, name), rows], ignore_index=True)

    emails = merge_emails(with_found("emails", "email", decided.emails))
    steps = merge_step_names(with_found("step_names", "step", decided.steps))
    return replace(partials, emails=emails, step_names=steps), decided


def _stage_decided(
    connection: ArrowConnection,
    by_shop: Mapping[int, int],
    events: str,
    orders: str,
    rules: RulesByShop,
) -> Removed:
    """Stage the texts of the e-mails and steps that raw rows have; returns their ids."""
    rows = connection.rows_of(
        tables.raw_event,
        f"SELECT {_STEP}, email_sha256 FROM raw_event WHERE {events} "
        "AND (email_sha256 <> '' OR step_id <> '') "
        f"UNION SELECT shop_key, '', '', email_sha256 FROM raw_order WHERE {orders} "
        "AND email_sha256 <> ''",
    ).to_pandas()
    emails = rows.loc[rows["email_sha256"] != "", _EMAIL.split(", ")].drop_duplicates()
    steps = rows.loc[rows["step_id"] != "", _STEP.split(", ")].drop_duplicates()
    for name, texts in ((_EMAILS, emails), (_STEPS, steps)):
        connection.stage(name, pa.Table.from_pandas(texts, preserve_index=False))
    steps = counted(pa.Table.from_pandas(steps, preserve_index=False), rules).to_pandas()
    steps = steps.drop_duplicates()
    own = pa.table({"text": pa.array(emails["email_sha256"], pa.string())})["text"]
    ids = read_raw.shop_ids(emails["shop_key"].to_numpy(), own)
    form, step = (
        np.array([text_id(text) for text in steps[name]], np.int64)
        for name in ("form_id", "step_id")
    )
    return replace(
        NOTHING_REMOVED,
        emails=pd.DataFrame({"edition": _editions(by_shop, emails), "email": ids}),
        steps=pd.DataFrame({"edition": _editions(by_shop, steps), "form": form, "step": step}),
    )


def _editions(by_shop: Mapping[int, int], rows: pd.DataFrame) -> Column:
    return np.array([by_shop[shop_key] for shop_key in rows["shop_key"]], np.int64)


def _spans(connection: ArrowConnection, by_shop: Mapping[int, int]) -> Iterator[str]:
    """Conditions that cut the raw rows of shops into parts of a bounded number of rows."""
    shops = f"shop_key IN ({sql_list(by_shop)})"
    batches = connection.table(
        f"SELECT batch_id, rows FROM import_batch WHERE {shops} ORDER BY batch_id"
    )
    if batches.num_rows:
        ids = batches["batch_id"].to_numpy()
        part = np.cumsum(batches["rows"].to_numpy()) // _ROWS_AT_ONCE
        for batch_ids in np.split(ids, np.flatnonzero(np.diff(part)) + 1):
            yield f"{shops} AND batch_id BETWEEN {batch_ids[0]} AND {batch_ids[-1]}"


def _names_any(kept: KeptFacts, decided: Removed) -> pd.Series:
    """A mask of the groups of kept facts that have one of these e-mails or steps."""
    email, step = (
        rows.loc[rows[name].isin(wanted[name]), "group"]
        for rows, name, wanted in (
            (kept.sessions, "email", decided.emails),
            (kept.step_names, "step", decided.steps),
        )
    )
    return kept.groups["group"].isin(email) | kept.groups["group"].isin(step)
