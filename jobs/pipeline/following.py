"""How the figures of an edition follow the removal of a portion of its raw rows, or of kept facts.

The sessions and orders of the portion are derived anew from what is left of them: raw rows, and the kept
facts of those that RAW_DAYS removed (`facts/kept_facts.py`).
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

from jobs.facts import kept_facts_io, read_raw
from jobs.facts.changes import Changes
from jobs.facts.derive_changes import derive_changes
from jobs.facts.gather import gather
from jobs.facts.kept_facts import KeptFacts, with_kept
from jobs.facts.partials import Partials, Removed, fold, merge_emails, merge_step_names
from jobs.pipeline.apply_batch import NO_EVENTS, calendar_of, deltas_of, units_of
from jobs.pipeline.removed_rows import LEFT_EVENT, LEFT_ORDER, REMOVED_EVENT
from warehouse import tables
from warehouse.catalogue import Summary
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.hash_ids import text_id
from warehouse.domain.vocabulary import STEP_COMPLETE, STEP_VIEW
from warehouse.editions.editions import Edition
from warehouse.editions.pending_batches import is_applied

_IN_SESSIONS: Final = (
    "EXISTS (SELECT 1 FROM removed_event s WHERE s.form_session_id = raw_event.form_session_id "
    "AND s.form_id = raw_event.form_id AND {applied})"
)


@dataclass(frozen=True)
class DroppedFacts:
    """The kept facts of an import batch: those that are removed, and those that are left."""

    batch_id: int
    gone: KeptFacts
    left: KeptFacts


@dataclass(frozen=True)
class Following:
    """How the figures of an edition follow a portion."""

    changes: Changes
    deltas: list[tuple[Summary, pa.Table]]


def follow(
    connection: ArrowConnection, edition: Edition, dropped: DroppedFacts | None = None
) -> Following:
    """How an edition's figures follow the staged rows (`removed_rows.py`), which are those of the dropped
    facts if there are any. Leaves a transaction open."""
    applied, by_shop = is_applied(edition.edition), {edition.shop_key: edition.edition}
    if dropped is None:
        gone = read_raw.read_events(connection, f"{REMOVED_EVENT} AND {applied}", by_shop).events
    else:
        gone = dropped.gone.events(edition.edition)
        if not connection.value(
            f"SELECT 1 FROM kept_facts WHERE batch_id = {dropped.batch_id} AND {applied}"
        ):
            gone = gone.iloc[:0]
    sessions = gone[["edition", "session_hash"]].drop_duplicates()
    partials = _with_kept(
        connection, edition, _partials_left(connection, edition), sessions, dropped
    )
    has_events = sessions["session_hash"].isin(partials.sessions["session_hash"])
    emails, steps = _lost_emails(connection, edition), _lost_steps(connection, edition)
    if len(emails) or len(steps):
        found = _latest(connection, edition, dropped)
        emails_left = found.emails[found.emails["email"].isin(emails["email"])]
        steps_left = found.step_names[found.step_names["step"].isin(steps["step"])]
        partials = replace(
            partials,
            emails=merge_emails(pd.concat([partials.emails, emails_left], ignore_index=True)),
            step_names=merge_step_names(
                pd.concat([partials.step_names, steps_left], ignore_index=True)
            ),
        )
    removed = Removed(sessions=sessions[~has_events], emails=emails, steps=steps)
    gathered = gather(connection, partials, edition.window_days, replace=True, removed=removed)
    changes = derive_changes(partials, gathered, edition.window_days)
    calendar = calendar_of([edition])
    units = units_of(connection, changes, calendar)
    days = calendar.days(gone["edition"].to_numpy(), gone["at"].to_numpy())
    events = gone[["edition", "form"]].assign(day=days)
    return Following(changes, deltas_of(units, NO_EVENTS, events))


def _with_kept(
    connection: ArrowConnection,
    edition: Edition,
    partials: Partials,
    sessions: pd.DataFrame,
    dropped: DroppedFacts | None,
) -> Partials:
    """With the kept facts that are left of these sessions."""
    own, applied = {edition.shop_key: edition.edition}, is_applied(edition.edition)
    kept = kept_facts_io.read_sessions(connection, own, sessions, applied)
    if dropped is None:
        return with_kept(partials, ((number, facts) for _, number, facts in kept))
    left = dropped.left.only(dropped.left.groups["session_hash"].isin(sessions["session_hash"]))
    others = ((number, facts) for batch, number, facts in kept if batch != dropped.batch_id)
    return with_kept(partials, [(edition.edition, left), *others])


def _partials_left(connection: ArrowConnection, edition: Edition) -> Partials:
    """The content of the applied rows that are left, of the sessions and orders of the staged rows. An order
    without such a row is there as a test: those are in no fact."""
    shop, by_shop = edition.shop_key, {edition.shop_key: edition.edition}
    applied = is_applied(edition.edition)
    sessions = _IN_SESSIONS.format(applied=is_applied(edition.edition, "s.batch_id"))
    events = read_raw.read_events(
        connection, f"shop_key = {shop} AND {applied} AND {sessions} AND {LEFT_EVENT}", by_shop
    )
    of_orders = "(shop_key, order_id) IN (SELECT shop_key, order_id FROM removed_order)"
    orders = read_raw.read_orders(
        connection,
        f"{of_orders} AND {applied} AND {LEFT_ORDER.format('raw_order')}",
        by_shop,
        LEFT_ORDER.format("r"),
    )
    partials = fold(events, orders)
    named = connection.rows_of(
        tables.raw_order, "SELECT DISTINCT shop_key, order_id FROM removed_order"
    )
    ids = read_raw.shop_ids(named["shop_key"].to_numpy(), named["order_id"])
    standing = partials.orders
    gone = pd.DataFrame({"order": ids[~np.isin(ids, standing["order"])]})
    gone = gone.reindex(columns=standing.columns, fill_value=0)
    gone = gone.assign(edition=edition.edition, test=1, order_id="", customer_id="")
    return replace(partials, orders=pd.concat([standing, gone], ignore_index=True))


def _lost_email_texts(edition: Edition) -> str:
    return (
        f"SELECT DISTINCT email_sha256 FROM removed_event WHERE {is_applied(edition.edition)} "
        "AND email_sha256 <> '' AND (occurred_at, customer_id) IN "
        f"(SELECT seen_at, customer_id FROM fact_email WHERE edition = {edition.edition})"
    )


def _lost_step_texts(edition: Edition) -> str:
    own = f"FROM dim_step WHERE edition = {edition.edition}"
    return (
        "SELECT DISTINCT form_id, step_id FROM removed_event WHERE step_id <> '' "
        f"AND event_id IN (SELECT index_event {own} UNION ALL SELECT name_event {own})"
    )


def _lost_emails(connection: ArrowConnection, edition: Edition) -> pd.DataFrame:
    """The e-mails whose last sighting with a customer may be among the staged events: edition, email."""
    texts = connection.rows_of(tables.raw_event, _lost_email_texts(edition))["email_sha256"]
    emails = read_raw.shop_ids(np.full(len(texts), edition.shop_key), texts)
    return pd.DataFrame({"email": emails}).assign(edition=edition.edition)


def _lost_steps(connection: ArrowConnection, edition: Edition) -> pd.DataFrame:
    """The steps whose index or name is from one of the staged events: edition, form, step."""
    texts = connection.rows_of(tables.raw_event, _lost_step_texts(edition)).to_pydict()
    form, step = (
        np.array([text_id(text) for text in texts[name]], np.int64)
        for name in ("form_id", "step_id")
    )
    return pd.DataFrame({"form": form, "step": step}).assign(edition=edition.edition)


def _latest(
    connection: ArrowConnection, edition: Edition, dropped: DroppedFacts | None
) -> Partials:
    """The latest sightings of the lost e-mails and the latest names of the lost steps, among others, from all
    applied events and kept facts that are left."""
    left = f"shop_key = {edition.shop_key} AND {is_applied(edition.edition)} AND {LEFT_EVENT}"
    by_email = (
        f"FROM raw_event WHERE {left} AND customer_id <> '' "
        f"AND email_sha256 IN ({_lost_email_texts(edition)})",
        "PARTITION BY email_sha256 ORDER BY occurred_at DESC, customer_id DESC",
    )
    by_step = (
        f"FROM raw_event WHERE {left} AND type IN ({STEP_VIEW}, {STEP_COMPLETE}) "
        f"AND (form_id, step_id) IN ({_lost_step_texts(edition)})",
        # The latest event has the index, and the latest that has a name the name.
        "PARTITION BY form_id, step_id, step_name = '' ORDER BY occurred_at DESC, event_id DESC",
    )
    latest = " UNION ALL ".join(
        f"SELECT event_id FROM (SELECT event_id, ROW_NUMBER() OVER ({window}) AS place {rows}) t "
        "WHERE place = 1"
        for rows, window in (by_email, by_step)
    )
    shop = {edition.shop_key: edition.edition}
    events = read_raw.read_events(
        connection, f"shop_key = {edition.shop_key} AND event_id IN ({latest})", shop
    )
    kept = kept_facts_io.read(connection, shop, is_applied(edition.edition))
    return with_kept(
        fold(events, read_raw.read_orders(connection, "false", shop)),
        (
            (number, dropped.left if dropped and dropped.batch_id == batch_id else facts)
            for batch_id, number, facts in kept
        ),
    )
