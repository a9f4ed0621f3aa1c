"""Conditions of the data that come in: events and orders that stopped, rejects, unknown forms, and limits."""

from collections.abc import Iterator
from typing import Final

from warehouse import command
from warehouse.domain.time import MICROS_PER_DAY, day_date, iso_millis
from warehouse.intake import imports
from warehouse.operations.checks import At, Found
from warehouse.operations.collectors import TOO_MANY_BYTES
from warehouse.operations.tasks import LAND
from warehouse.tables.facts import NO_MILESTONE

# A shop has daily orders (or events) if it had some on so many of the days that end with its newest one.
_ORDER_DAYS: Final = 10
_OF_DAYS: Final = 14
_NO_ORDERS_MICROS: Final = 2 * MICROS_PER_DAY
# A shop that has had none for longer than this is closed, not broken.
_CLOSED_MICROS: Final = 30 * MICROS_PER_DAY
_MAX_REJECTED_PERCENT: Final = 5


def no_events(at: At) -> Iterator[Found]:
    today = at.now // MICROS_PER_DAY
    rows = at.query(
        "SELECT q.shop_id, q.shop_key, q.last_day FROM (SELECT s.shop_id, s.shop_key, s.edition, "
        "(SELECT MAX(f.day) FROM daily_funnel f WHERE f.edition = s.edition AND f.views > 0) AS last_day "
        f"FROM shop s WHERE s.edition <> 0 AND {at.of_shops()}) q "
        # Two whole days, in whatever time zone.
        f"WHERE q.last_day BETWEEN {today - _CLOSED_MICROS // MICROS_PER_DAY} AND {today - 4} "
        "AND (SELECT COUNT(DISTINCT f.day) FROM daily_funnel f WHERE f.edition = q.edition "
        f"AND f.day > q.last_day - {_OF_DAYS} AND f.day <= q.last_day AND f.views > 0) "
        f">= {_ORDER_DAYS} ORDER BY q.last_day, q.shop_id"
    )
    for row in rows:
        yield (
            row["shop_id"],
            f"{row['shop_id']} has views of forms on most days, and none since "
            f"{day_date(row['last_day'])}. See whether its pages still have the line that Set up shows, "
            "and whether their events come in",
            row["shop_key"],
        )


def no_orders(at: At) -> Iterator[Found]:
    rows = at.query(
        "SELECT q.shop_id, q.shop_key, q.last_order_at FROM (SELECT s.shop_id, s.shop_key, s.edition, "
        "(SELECT MAX(o.created_at) FROM fact_order o WHERE o.edition = s.edition) AS last_order_at, "
        "(SELECT MAX(a.day) FROM daily_attribution a WHERE a.edition = s.edition AND a.orders > 0) "
        f"AS last_day FROM shop s WHERE s.edition <> 0 AND {at.of_shops()}) q "
        f"WHERE q.last_order_at >= {at.now - _CLOSED_MICROS} "
        f"AND q.last_order_at < {at.now - _NO_ORDERS_MICROS} "
        "AND (SELECT COUNT(DISTINCT a.day) FROM daily_attribution a WHERE a.edition = q.edition "
        f"AND a.day > q.last_day - {_OF_DAYS} AND a.day <= q.last_day AND a.orders > 0) "
        f">= {_ORDER_DAYS} ORDER BY q.last_order_at, q.shop_id"
    )
    for row in rows:
        yield (
            row["shop_id"],
            f"{row['shop_id']} has orders on most days, and none since "
            f"{iso_millis(row['last_order_at'])}. See whether they still come in: its pull, its files, "
            "or the program that writes them",
            row["shop_key"],
        )


def many_rejects(at: At) -> Iterator[Found]:
    """Check the rejected share of the rows that imports of the last 24 hours have read: of all, and on the
    pages of a shop of the files that have its rows alone. Rejects that were mended, retried or dismissed need
    nobody, and neither do those of an import that was undone. A file that is imported again adds no rejects
    to those that it has."""
    shop_key, group = ("0", "") if at.shops is None else ("f.shop_key", "GROUP BY f.shop_key")
    rows = at.query(
        f"SELECT {shop_key} AS shop_key, CAST(COALESCE(SUM(f.rows_read), 0) AS BIGINT) AS read, "
        "CAST(COALESCE(SUM(CASE WHEN f.rows_rejected > 0 AND EXISTS (SELECT 1 FROM reject r "
        "WHERE r.file = f.file AND r.kind = f.kind) THEN f.rows_rejected ELSE 0 END), 0) AS BIGINT) "
        f"AS rejected FROM import_file f WHERE f.started_at > {at.now - MICROS_PER_DAY} "
        f"AND NOT {imports.IS_WITHDRAWN} AND {at.of_shops('f.shop_key')} {group}"
    )
    for row in rows:
        if row["rejected"] * 100 > row["read"] * _MAX_REJECTED_PERCENT:
            percent = 100 * row["rejected"] / row["read"]
            yield (
                "",
                f"{row['rejected']} of the {row['read']} rows that were imported within 24 hours were "
                f"rejected ({percent:.1f} %). `{command('jobs rejects --summary')}` says why; mend the "
                f"cause, then `{command('jobs rejects --retry')}`, or `--dismiss`",
                row["shop_key"],
            )


def unknown_forms(at: At) -> Iterator[Found]:
    """Check the forms of events. The statement steps from form to form in two indexes, which together have
    every form with an event."""

    def least(beyond: str = "") -> str:
        own = f"WHERE edition = n.edition {beyond}"
        return (
            f"SELECT MIN(form) FROM (SELECT MIN(form) AS form FROM daily_funnel {own} UNION ALL "
            f"SELECT MIN(form) FROM fact_form_session {own} AND {NO_MILESTONE}) q"
        )

    rows = at.query(
        f"WITH RECURSIVE seen(shop_key, edition, form) AS (SELECT shop_key, edition, ({least()}) "
        f"FROM shop n WHERE edition <> 0 AND {at.of_shops('n.shop_key')} UNION ALL "
        f"SELECT shop_key, edition, ({least('AND form > n.form')}) FROM seen n "
        "WHERE form IS NOT NULL) "
        "SELECT s.shop_id, s.shop_key, COUNT(*) AS forms, MIN(t.text) AS example FROM seen n "
        "JOIN shop s ON s.shop_key = n.shop_key "
        "JOIN dim_text t ON t.edition = n.edition AND t.id = n.form "
        "WHERE NOT EXISTS (SELECT 1 FROM form f WHERE f.form_id = t.text AND f.shop_key = n.shop_key) "
        "AND NOT EXISTS (SELECT 1 FROM form_forgotten g "
        "WHERE g.form_id = t.text AND g.shop_key = n.shop_key) "
        "GROUP BY s.shop_id, s.shop_key ORDER BY s.shop_id"
    )
    for row in rows:
        forms = "1 form that is" if row["forms"] == 1 else f"{row['forms']} forms that are"
        yield (
            row["shop_id"],
            f"events of {row['shop_id']} name {forms} not known, such as {row['example']}. "
            f"Import the forms: `{command('jobs import forms')} FILE`",
            row["shop_key"],
        )


def collect_limit(at: At) -> Iterator[Found]:
    """Check the calls that were refused today and yesterday."""
    rows = at.query(
        "SELECT s.shop_id, s.shop_key, u.day, u.calls FROM uncollected u "
        f"JOIN shop s ON s.shop_key = u.shop_key WHERE u.reason = '{TOO_MANY_BYTES}' "
        f"AND u.day >= {at.now // MICROS_PER_DAY - 1} AND {at.of_shops()} "
        "ORDER BY u.calls DESC, s.shop_id"
    )
    for row in rows:
        yield (
            row["shop_id"],
            f"the collector refused {row['calls']} events of {row['shop_id']} on {day_date(row['day'])}, "
            "beyond COLLECT_MB_PER_SHOP. See who sends them: replace a write key that strangers use "
            f"(`{command('web write-keys revoke')} KEY`), or raise the setting",
            row["shop_key"],
        )


def rows_limit(at: At) -> Iterator[Found]:
    rows = at.query(
        "SELECT s.shop_id, t.payload FROM task t JOIN shop s ON s.shop_key = t.shop_key "
        f"WHERE t.kind = '{LAND}' AND t.ended_at = 0 AND t.due_at > {at.now} ORDER BY s.shop_id"
    )
    for row in rows:
        yield (
            row["shop_id"],
            f"{row['shop_id']} dropped a file, {row['payload']!a}, with which it would import more rows "
            "today than ROWS_PER_SHOP_DAY. It is imported tomorrow. If it has so many rows, raise the "
            "setting",
            0,
        )
