"""The events that decide what an e-mail resolves to and how a step is called: the latest of each."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd

from jobs.facts import kept_facts, read_raw, touched
from jobs.facts.fact_table_io import to_arrow
from jobs.facts.kept_facts import KeptFacts, with_kept
from jobs.facts.partials import (
    DecidedAnew,
    Partials,
    emails_of,
    merge_emails,
    merge_step_names,
    step_names_of,
)
from jobs.facts.read_raw import counted, rules_of
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import NEVER
from warehouse.domain.vocabulary import STEP_COMPLETE, STEP_VIEW
from warehouse.editions.pending_batches import is_applied, sql_list

# Raw rows among which the latest are looked for at once.
_ROWS_AT_ONCE: Final = 400_000
_EMAIL: Final = "shop_key, email_sha256"
_STEP: Final = "shop_key, form_id, page_path, step_id"
_EMAILS, _STEPS = "staged_emails", "staged_steps"


def latest_events(events: str, emails: str, steps: str) -> str:
    """A query of shop_key and event_id, of the raw events that meet a condition: the latest sighting of each
    of these e-mails with a customer, and for each of these steps the latest event and the latest with a name.

    `emails`, `steps`: queries of shop_key and email_sha256, and of shop_key, form_id, page_path and step_id.
    """
    by_email = (
        f"WHERE {events} AND customer_id <> '' AND ({_EMAIL}) IN ({emails})",
        # The steps of a form may not count.
        f"PARTITION BY {_EMAIL}, form_id ORDER BY occurred_at DESC, customer_id DESC",
    )
    by_step = (
        f"WHERE {events} AND type IN ({STEP_VIEW}, {STEP_COMPLETE}) "
        # The steps of all forms: events of another form may count as its.
        f"AND (shop_key, step_id) IN (SELECT shop_key, step_id FROM ({steps}) s)",
        # The latest event has the index, and the latest that has a name the name.
        f"PARTITION BY {_STEP}, step_name = '' ORDER BY occurred_at DESC, event_id DESC",
    )
    return " UNION ALL ".join(
        f"SELECT shop_key, event_id FROM (SELECT shop_key, event_id, ROW_NUMBER() OVER ({window}) AS place "
        f"FROM raw_event {rows}) t WHERE place = 1"
        for rows, window in (by_email, by_step)
    )


def stage_touched(connection: ArrowConnection, by_shop: Mapping[int, int]) -> DecidedAnew:
    """Stage the e-mails and steps of the raw rows of the touched sessions and orders (`touched.py`); returns
    them. `by_shop`: the edition of each shop key."""
    applied = _applied("r.batch_id", by_shop)
    rows = connection.rows_of(
        tables.raw_event,
        f"SELECT r.{_STEP.replace(', ', ', r.')}, email_sha256 {touched.EVENTS} "
        f"AND {applied} AND (email_sha256 <> '' OR step_id <> '') "
        f"UNION SELECT r.shop_key, '', '', '', email_sha256 {touched.VERSIONS} "
        f"AND {applied} AND email_sha256 <> ''",
    ).to_pandas()
    emails = rows.loc[rows["email_sha256"] != "", _EMAIL.split(", ")].drop_duplicates()
    steps = rows.loc[rows["step_id"] != "", _STEP.split(", ")].drop_duplicates()
    for name, texts in ((_EMAILS, emails), (_STEPS, steps)):
        connection.stage(name, to_arrow(texts, list(texts)))
    rules = rules_of(connection, by_shop.values())
    steps = counted(to_arrow(steps, list(steps)), rules).to_pandas()
    steps = steps.drop(columns="page_path").drop_duplicates()
    own = to_arrow(emails, ["email_sha256"])["email_sha256"]
    ids = read_raw.shop_ids(emails["shop_key"].to_numpy(), own)
    form, step = (
        np.array([text_id(text) for text in steps[name]], np.int64)
        for name in ("form_id", "step_id")
    )
    of_emails, of_steps = (
        read_raw.editions_of(rows["shop_key"].to_numpy(), by_shop) for rows in (emails, steps)
    )
    return DecidedAnew(
        emails=pd.DataFrame({"edition": of_emails, "email": ids}),
        steps=pd.DataFrame({"edition": of_steps, "form": form, "step": step}),
    )


def with_latest(
    connection: ArrowConnection, by_shop: Mapping[int, int], partials: Partials, staged: DecidedAnew
) -> Partials:
    """Partial facts with the latest sighting of each staged e-mail and the latest names of each staged step,
    from all applied raw events and kept facts."""
    emails, steps = [partials.emails], [partials.step_names]
    for spanned in _spans(connection, by_shop):
        latest = latest_events(
            f"{spanned} AND {_applied('batch_id', by_shop)}",
            f"SELECT {_EMAIL} FROM {_EMAILS}",
            f"SELECT {_STEP} FROM {_STEPS}",
        )
        events = read_raw.read_events(connection, f"(shop_key, event_id) IN ({latest})", by_shop)
        emails.append(emails_of(events.events))
        steps.append(step_names_of(events.events))
    # No other cell has one of these e-mails, or decides about one of these steps.
    own = kept_facts.of_keys(connection, staged.emails["email"].to_numpy(np.int64))
    found = merge_step_names(pd.concat(steps, ignore_index=True))
    decided_at = staged.steps.merge(found, "left", ["edition", "form", "step"])
    instants = decided_at[["index_at", "name_at"]].fillna(0).to_numpy(np.int64)
    cells = f"({own} OR last_at >= {instants.min(initial=NEVER)})"
    kept = [
        (by_shop[shop_key], facts.only(_names_any(facts, staged)))
        for _, shop_key, facts in kept_facts.read_counted(
            connection, by_shop, f"{cells} AND {_applied('batch_id', by_shop)}"
        )
    ]
    of_kept = with_kept(partials, kept)
    emails.append(of_kept.emails)
    steps.append(of_kept.step_names)

    def decided(rows: list[pd.DataFrame], column: str, own: pd.DataFrame) -> pd.DataFrame:
        others = pd.concat(rows[1:], ignore_index=True)
        return pd.concat([rows[0], others[others[column].isin(own[column])]], ignore_index=True)

    return replace(
        partials,
        emails=merge_emails(decided(emails, "email", staged.emails)),
        step_names=merge_step_names(decided(steps, "step", staged.steps)),
    )


def _applied(column: str, by_shop: Mapping[int, int]) -> str:
    return is_applied(sql_list(by_shop.values()), column)


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


def _names_any(kept: KeptFacts, staged: DecidedAnew) -> pd.Series:
    """A mask of the groups of kept facts that have one of these e-mails or steps."""
    email, step = (
        rows.loc[rows[name].isin(wanted[name]), "group"]
        for rows, name, wanted in (
            (kept.sessions, "email", staged.emails),
            (kept.step_names, "step", staged.steps),
        )
    )
    return kept.groups["group"].isin(email) | kept.groups["group"].isin(step)
