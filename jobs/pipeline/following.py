"""How the figures of editions follow the removal of a portion of their raw rows, or of kept facts.

The sessions and orders of the portion are derived anew from what is left of them: raw rows, and the kept
facts of those that RAW_DAYS removed (`facts/kept_facts.py`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from jobs.arrays.group_keys import Column
from jobs.facts import kept_facts_io, read_raw
from jobs.facts.changes import Changes
from jobs.facts.derive_changes import derive_changes
from jobs.facts.form_rules import counted, rules_of
from jobs.facts.gather import gather
from jobs.facts.kept_facts import KeptFacts, with_kept
from jobs.facts.latest_events import latest_events
from jobs.facts.partials import Partials, Removed, fold, merge_emails, merge_step_names
from jobs.pipeline.apply_batch import NO_EVENTS, calendar_of, deltas_of, units_of
from jobs.pipeline.removed_rows import LEFT_EVENT, LEFT_ORDER, REMOVED_EVENT
from warehouse import tables
from warehouse.catalogue import Summary
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.hash_ids import text_id
from warehouse.editions.editions import Edition
from warehouse.editions.pending_batches import is_applied, sql_list

EditionByShop: TypeAlias = Mapping[int, int]

_IN_SESSIONS: Final = (
    "EXISTS (SELECT 1 FROM removed_event s WHERE s.form_session_id = raw_event.form_session_id "
    "AND s.shop_key = raw_event.shop_key AND {})"
)


@dataclass(frozen=True)
class DroppedFacts:
    """The kept facts of an import batch of a shop: those that are removed, and those that are left."""

    shop_key: int
    batch_id: int
    gone: KeptFacts
    left: KeptFacts


@dataclass(frozen=True)
class Following:
    """How the figures of some editions follow a portion."""

    changes: Changes
    deltas: list[tuple[Summary, pa.Table]]


def one_of_each_shop(editions: Iterable[Edition]) -> list[list[Edition]]:
    """Editions in groups that can follow together: of one window, and one of each shop."""
    groups: dict[tuple[str, int], list[Edition]] = {}
    for edition in editions:
        groups.setdefault((edition.state, edition.window_days), []).append(edition)
    return list(groups.values())


def follow(
    connection: ArrowConnection, editions: list[Edition], dropped: DroppedFacts | None = None
) -> Following:
    """How the figures of editions (`one_of_each_shop`) follow the staged rows (`removed_rows.py`), which are
    those of the dropped facts if there are any. Leaves a transaction open."""
    by_shop = {edition.shop_key: edition.edition for edition in editions}
    dropped = _counted(connection, by_shop, dropped)
    window_days, applied = editions[0].window_days, is_applied(sql_list(by_shop.values()))
    if dropped is None:
        gone = read_raw.read_events(connection, f"{REMOVED_EVENT} AND {applied}", by_shop).events
    else:
        gone = dropped.gone.events(by_shop[dropped.shop_key])
        if not connection.value(
            f"SELECT 1 FROM kept_facts WHERE batch_id = {dropped.batch_id} AND {applied}"
        ):
            gone = gone.iloc[:0]
    sessions = gone[["edition", "session_hash"]].drop_duplicates()
    partials = _with_kept(
        connection, by_shop, _partials_left(connection, by_shop, sessions), sessions, dropped
    )
    has_events = sessions["session_hash"].isin(partials.sessions["session_hash"])
    emails, steps = _lost_emails(connection, by_shop), _lost_steps(connection, by_shop)
    if len(emails) or len(steps):
        found = _latest(connection, by_shop, dropped)
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
    gathered = gather(connection, partials, window_days, replace=True, removed=removed)
    changes = derive_changes(partials, gathered, window_days)
    calendar = calendar_of(editions)
    units = units_of(connection, changes, calendar)
    days = calendar.days(gone["edition"].to_numpy(), gone["at"].to_numpy())
    events = gone[["edition", "form"]].assign(day=days)
    return Following(changes, deltas_of(units, NO_EVENTS, events))


def _counted(
    connection: ArrowConnection, by_shop: EditionByShop, dropped: DroppedFacts | None
) -> DroppedFacts | None:
    """The dropped facts as the edition has their forms counted."""
    if dropped is None:
        return None
    shop_key, rules = dropped.shop_key, rules_of(connection, by_shop.values())
    gone, left = (facts.counted(shop_key, rules) for facts in (dropped.gone, dropped.left))
    return replace(dropped, gone=gone, left=left)


def _with_kept(
    connection: ArrowConnection,
    by_shop: EditionByShop,
    partials: Partials,
    sessions: pd.DataFrame,
    dropped: DroppedFacts | None,
) -> Partials:
    """With the kept facts that are left of these sessions."""
    applied = is_applied(sql_list(by_shop.values()))
    kept = kept_facts_io.read_sessions(connection, by_shop, sessions, applied)
    if dropped is None:
        return with_kept(partials, ((edition, facts) for _, edition, facts in kept))
    left = dropped.left.only(dropped.left.groups["session_hash"].isin(sessions["session_hash"]))
    others = ((edition, facts) for batch, edition, facts in kept if batch != dropped.batch_id)
    return with_kept(partials, [(by_shop[dropped.shop_key], left), *others])


def _partials_left(
    connection: ArrowConnection, by_shop: EditionByShop, sessions: pd.DataFrame
) -> Partials:
    """The content of the applied rows that are left, of these sessions (those of the staged events) and of
    the orders of the staged rows. An order without such a row is there as a test: those are in no fact."""
    numbers = sql_list(by_shop.values())
    applied, staged = is_applied(numbers), _IN_SESSIONS.format(is_applied(numbers, "s.batch_id"))
    events = read_raw.read_events(
        connection, f"{_of_shops(by_shop)} AND {applied} AND {staged} AND {LEFT_EVENT}", by_shop
    )
    # Another form may have a session of the same id.
    is_own = events.events["session_hash"].isin(sessions["session_hash"])
    events = replace(events, events=events.events[is_own].reset_index(drop=True))
    of_orders = "(shop_key, order_id) IN (SELECT shop_key, order_id FROM removed_order)"
    orders = read_raw.read_orders(
        connection,
        f"{of_orders} AND {applied} AND {LEFT_ORDER.format('raw_order')}",
        by_shop,
        LEFT_ORDER.format("r"),
    )
    partials = fold(events, orders)
    named = connection.rows_of(
        tables.raw_order,
        f"SELECT DISTINCT shop_key, order_id FROM removed_order WHERE {_of_shops(by_shop)}",
    )
    standing = partials.orders
    ids = read_raw.shop_ids(named["shop_key"].to_numpy(), named["order_id"])
    gone = pd.DataFrame({"edition": _editions(by_shop, named), "order": ids})
    gone = gone[~gone["order"].isin(standing["order"])]
    gone = gone.reindex(columns=standing.columns, fill_value=0)
    gone = gone.assign(test=1, order_id="", customer_id="")
    return replace(partials, orders=pd.concat([standing, gone], ignore_index=True))


def _lost_email_texts(numbers: str) -> str:
    return (
        f"SELECT DISTINCT shop_key, email_sha256 FROM removed_event WHERE {is_applied(numbers)} "
        "AND email_sha256 <> '' AND (occurred_at, customer_id) IN "
        f"(SELECT seen_at, customer_id FROM fact_email WHERE edition IN ({numbers}))"
    )


def _lost_step_texts(numbers: str) -> str:
    own = f"FROM dim_step WHERE edition IN ({numbers})"
    return (
        "SELECT DISTINCT shop_key, form_id, step_id FROM removed_event WHERE step_id <> '' "
        f"AND {is_applied(numbers)} "
        f"AND event_id IN (SELECT index_event {own} UNION ALL SELECT name_event {own})"
    )


def _lost_emails(connection: ArrowConnection, by_shop: EditionByShop) -> pd.DataFrame:
    """The e-mails whose last sighting with a customer may be among the staged events: edition, email."""
    texts = _lost_email_texts(sql_list(by_shop.values()))
    lost = connection.rows_of(tables.raw_event, texts)
    ids = read_raw.shop_ids(lost["shop_key"].to_numpy(), lost["email_sha256"])
    return pd.DataFrame({"edition": _editions(by_shop, lost), "email": ids})


def _lost_steps(connection: ArrowConnection, by_shop: EditionByShop) -> pd.DataFrame:
    """The steps whose index or name may be from one of the staged events: edition, form, step."""
    texts = _lost_step_texts(sql_list(by_shop.values()))
    lost = connection.rows_of(tables.raw_event, texts)
    lost = counted(lost, rules_of(connection, by_shop.values()))
    form, step = (
        np.array([text_id(text) for text in lost[name].to_pylist()], np.int64)
        for name in ("form_id", "step_id")
    )
    return pd.DataFrame({"edition": _editions(by_shop, lost), "form": form, "step": step})


def _editions(by_shop: EditionByShop, rows: pa.Table) -> Column:
    return np.array([by_shop[shop_key] for shop_key in rows["shop_key"].to_pylist()], np.int64)


def _of_shops(by_shop: EditionByShop) -> str:
    return f"shop_key IN ({sql_list(by_shop)})"


def _latest(
    connection: ArrowConnection, by_shop: EditionByShop, dropped: DroppedFacts | None
) -> Partials:
    """The latest sightings of the lost e-mails and the latest names of the lost steps, among others, from all
    applied events and kept facts that are left."""
    numbers = sql_list(by_shop.values())
    left = f"{_of_shops(by_shop)} AND {is_applied(numbers)} AND {LEFT_EVENT}"
    latest = latest_events(left, _lost_email_texts(numbers), _lost_step_texts(numbers))
    events = read_raw.read_events(connection, f"(shop_key, event_id) IN ({latest})", by_shop)
    kept = kept_facts_io.read(connection, by_shop, is_applied(numbers))
    return with_kept(
        fold(events, read_raw.read_orders(connection, "false", by_shop)),
        (
            (edition, dropped.left if dropped and dropped.batch_id == batch_id else facts)
            for batch_id, edition, facts in kept
        ),
    )
