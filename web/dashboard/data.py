"""`/data`: how the shop's data come in, and what to do where something does not.

It shows only what is certainly of this shop, and only to members who manage its connections. For a
rejected row it shows what finds the row again, and no customer, code or address.
"""

import json
from datetime import date, timedelta
from typing import Any, Final

from flask import render_template, request
from sqlalchemy import Row, text

from warehouse import settings
from warehouse.daily.reader import DailyRows
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import day_date
from warehouse.domain.vocabulary import (
    KEPT,
    MISSING,
    NOT_KEPT,
    UNDOING,
    UNDONE,
    without_values,
)
from warehouse.intake import imports, shop_pulls
from warehouse.operations import job_runs, tasks
from warehouse.operations.tasks import PERSONS, REJECTS, RETRY
from warehouse.persons import forgotten
from warehouse.persons.hash_secret import hasher_of_pages
from warehouse.shops import shop_inputs
from warehouse.shops.reconcile import amount_of, reconcile
from web.api.forms import all_forms_funnel
from web.dashboard import drop, undo
from web.dashboard.drop_folder import file_name, visible
from web.dashboard.page import Page, View
from web.db.database import query_of
from web.http.api_key_auth import find_shop
from web.http.services import services
from web.pages.page_request import change, member_request
from web.pages.rendering import redirect_with

# The rows of a table; the rest is counted.
MAX_ROWS: Final = 20

KINDS: Final = {
    "events": "Events",
    "orders": "Orders",
    "forms": "Forms",
    "ad-spend": "Ad spend",
    "ad-accounts": "Ad accounts",
}
_RUN_STATES: Final = {
    job_runs.DONE: "finished",
    job_runs.RUNNING: "running now",
    job_runs.FAILED: "failed",
    job_runs.STOPPED: "stopped by a signal",
    job_runs.DIED: "ended before it was done",
}
# The words on an import besides whether its rows are in the figures.
_FILE_STATES: Final = {
    imports.RUNNING: "running now",
    imports.FAILED: "ended before the end of the file",
    imports.DIED: "ended before the end of the file",
    UNDOING: "is being undone",
    UNDONE: "undone",
}
_COUNTS: Final = ("new", "duplicate", "replaced", "rejected", "incomplete")
_LAST_RUNS: Final = text(job_runs.LAST_OF_EACH)

# The places of what whoever runs the service sees to: where there is one, their part of the page is open.
_OPERATORS_MATTERS: Final = ("no-refresh", "backlog", "set-aside", "differences", "unknown-forms")

# The fields by which a row is found again, by kind.
_KEYS: Final = {
    "events": ("event_id",),
    "orders": ("order_id",),
    "forms": ("form_id",),
    "ad-spend": ("provider", "campaign_id", "date"),
    "ad-accounts": ("provider", "account_id"),
}
# The fields whose refused value is shown. Those of customers, visitors and codes are not among them.
_SHOWN_VALUES: Final = frozenset(
    (
        *("event_id", "order_id", "form_id", "form_session_id", "type", "occurred_at"),
        *("step_index", "created_at", "updated_at", "cancelled_at", "currency"),
        *("total_cents", "discount_cents", "test", "status", "schema", "provider"),
        *("account_id", "campaign_id", "date", "spend", "impressions", "clicks", "synced_at"),
        *("reported_conversions", "reported_value"),
    )
)
# The advice about a reason, by its code.
_REMEDIES: Final = {
    KEPT: "These rows count, without this field. Where it matters, correct it, and import the file again.",
    MISSING: "Add this field to the rows, and import the file again.",
    NOT_KEPT: "Too many rows of one file were refused. Correct the file, and import it again.",
}
_OF_CURRENCY: Final = "Send these rows in the shop's currency, and import the file again."
_REMEDY: Final = "Correct the rows in their file, and import the file again."


def data(view: View) -> Page:
    connection, shop, now = view.member.connection, view.shop, view.member.now
    rejects = shop_inputs.rejects_by_reason(connection, shop.key)
    kept = sum(one["rows"] for one in rejects if one["code"] == KEPT)
    # The last run of each job. Its error may be about any shop.
    last_runs = [job_runs.at(dict(row), now) for row in connection.execute(_LAST_RUNS).mappings()]
    runs = {run["job"]: {**run, "state": _RUN_STATES[run["state"]]} for run in last_runs}
    return view.page(
        "data.html",
        max_rows=MAX_ROWS,
        operators_matters=_OPERATORS_MATTERS,
        kinds=KINDS,
        rejects_days=settings.REJECTS_DAYS.get(),
        **_sources(view),
        imports=_imports(view),
        reasons=[
            {
                **one,
                "kind": KINDS[one["kind"]],
                "what_to_do": _REMEDIES.get(one["code"])
                or (_OF_CURRENCY if one["field"] == "currency" else _REMEDY),
                "examples": [_example(one["kind"], row) for row in one["examples"]],
            }
            for one in rejects
        ],
        rejected=sum(one["rows"] for one in rejects) - kept,
        kept=kept,
        max_rejects=shop_inputs.MAX_REJECTS,
        drop=drop.read(view.member),
        retry=tasks.find(connection, shop.key, REJECTS),
        identifiers=_IDENTIFIERS,
        most_waiting=forgotten.MOST_WAITING,
        persons=tasks.find(connection, shop.key, PERSONS),
        forgotten=forgotten.last(connection, shop.key, _LAST_FORGOTTEN),
        unknown_forms=_unknown_forms(view),
        refresh=runs.get("refresh"),
        nightly=runs.get("nightly"),
        waiting=shop_inputs.read_waiting(connection, shop.key),
        pulls=shop_pulls.list_of_shop(connection, shop.key),
        failed=shop_inputs.failed_imports(connection, shop.key, shop.edition),
    )


def retry() -> Any:
    """Ask for another import of the shop's rejects, which the next refresh makes."""
    with change() as member:
        is_new = tasks.ask(member.connection, member.member.shop_key, REJECTS, RETRY, member.now)
        if is_new:
            member.record("rejects_retried")
    message = "The rejected rows already wait for the next refresh."
    if is_new:
        message = "The next refresh imports the rejected rows again."
    return redirect_with(message, "dashboard.data#rejects")


def _sources(view: View) -> dict[str, Any]:
    """The data that came, and the kinds that have not come yet."""
    connection, shop = view.member.connection, view.shop
    sources = shop_inputs.read_sources(connection, shop.key, shop.edition)
    # The last days are looked for among all spend, so only when the shop's data have changed.
    days: dict[str, int] = services().shop_cache.get(
        "last spend days",
        shop.key,
        shop.data_version,
        lambda: shop_inputs.last_spend_days(connection, shop.key),
    )
    synced, last_day = sources["accounts"], sources["last_day"]
    there = {
        "forms": sources["forms"].forms,
        "events": sources["events"],
        "orders": sources["orders"],
        "ad spend": days,
    }
    return {
        "sources": sources,
        "last_event_day": None if last_day is None else day_date(last_day),
        "spend": [
            (provider, day_date(days[provider]) if provider in days else None, synced.get(provider))
            for provider in sorted(days | synced)
        ],
        "missing_sources": [name for name, came in there.items() if not came],
    }


def _imports(view: View) -> list[dict[str, Any]]:
    """The last imports of files. The name of a file that has rows of other shops too is not shown."""
    connection, shop = view.member.connection, view.shop
    listed = shop_inputs.last_imports(connection, shop.key, shop.edition, view.member.now)
    movable = undo.movable(view.member, [file for _, _, file, _ in listed if file])
    return [
        {
            "imported_at": imported_at,
            "kind": KINDS[kind],
            "file": file_name(file.file) if file else "",
            "counts": [getattr(file, name) for name in _COUNTS] if file else [],
            "state": _FILE_STATES.get(file.state, "") if file else "",
            "batch": batch,
            "undo": file.import_id if file and file.import_id in movable else None,
        }
        for imported_at, kind, file, batch in listed
    ]


def _unknown_forms(view: View) -> list[tuple[str, int]]:
    """Pairs (form id, events of these days) of the forms that the shop's list does not have."""
    ids = [row["formId"] for row in view.data(all_forms_funnel) if row["formName"] is None]
    edition, window = view.shop.edition, view.selection.window
    rows = DailyRows(view.member.connection, edition, window.first, window.last)
    events = rows.sums("all_forms", by=("form",))
    counts = dict(zip(events["form"].tolist(), events["events"].tolist(), strict=True))
    return sorted(((id, counts[text_id(id)]) for id in ids), key=lambda form: (-form[1], form[0]))


def _example(kind: str, reject: Row[Any]) -> dict[str, str]:
    """The place of a row, and why it was refused.

    The name of a file is shown where the whole file is of this shop, as another system's export is. The
    other files may have rows of several shops: their rows are found by their keys.
    """
    if reject.format:
        place = f"{file_name(reject.file)}, record {reject.line}"
        return {"place": place, "reason": without_values(reject.reason)}
    keys = _keys(kind, reject.text)
    reason = reject.reason if reject.field in _SHOWN_VALUES else without_values(reject.reason)
    return {"place": ", ".join((f"line {reject.line}", *keys)), "reason": visible(reason)}


def _keys(kind: str, kept: str) -> list[str]:
    """`order_id 17`: the fields by which a row is found again, as far as it has them."""
    try:
        row = json.loads(kept)
    except (ValueError, RecursionError):
        return []
    if not isinstance(row, dict):
        return []
    keys = ((name, row.get(name)) for name in _KEYS[kind])
    return [
        f"{name} {visible(str(value))}"
        for name, value in keys
        if isinstance(value, str | int) and value != ""
    ]


_IDENTIFIERS: Final = {
    "email": "e-mail address",
    "customer": "customer_id",
    "visitor": "visitor_id",
}
_LAST_FORGOTTEN: Final = 10
_PLACE: Final = "dashboard.data#persons"
_LONGEST_IDENTIFIER: Final = 255


def forget() -> Any:
    """`/data/forget`: show the traces of a person in the figures, with a button; once that is pressed, record
    the request. Only a keyed hash of the person is kept; the next refresh removes the rows."""
    member = member_request()
    connection, shop_key = member.connection, member.member.shop_key
    kind, text = request.form.get("kind", ""), request.form.get("identifier", "").strip()
    if kind not in _IDENTIFIERS or not 0 < len(text) <= _LONGEST_IDENTIFIER:
        message = f"Name the person by one identifier of at most {_LONGEST_IDENTIFIER} characters."
        return redirect_with(message, _PLACE)
    hasher = hasher_of_pages(connection)
    person = forgotten.identifier_of(hasher, kind, text)
    if "confirmed" not in request.form:
        shop = find_shop(connection, shop_key)
        sessions, orders = forgotten.in_figures(connection, shop_key, shop.edition, person)
        others = forgotten.under_others(connection, shop_key, shop.edition, person)
        return render_template(
            "dashboard/forget.html",
            kinds=_IDENTIFIERS,
            kind=kind,
            identifier=text,
            sessions=sessions,
            orders=orders,
            others={other: left for other, left in others.items() if left.sessions or left.orders},
        )
    hashed = forgotten.identifier_hash(hasher, person)
    try:
        with change() as member:
            forgotten.ask(member.connection, shop_key, hashed, member.now)
            # Not whom: the trail is kept.
            member.record("person_forgotten")
    except forgotten.TooManyWait:
        return redirect_with(
            f"{forgotten.MOST_WAITING} persons of this shop wait to be forgotten, which is the most. "
            "Ask again after the next refresh.",
            _PLACE,
        )
    return redirect_with("The next refresh forgets this person.", _PLACE)


# The parameters of the address, which are the fields of the form: the month and the report's figures.
_FIELDS: Final = ("month", "orders", "gross", "refunded", "net")
_LONGEST_FIELD: Final = 40


def report(view: View) -> Page:
    """`/data/report`: a month beside the shop's own report, with the cause of each difference."""
    given = {name: request.args.get(name, "").strip()[:_LONGEST_FIELD] for name in _FIELDS}
    connection, found, problem, apart = view.member.connection, None, "", 0

    if any(given.values()):
        try:
            if not (given["orders"].isascii() and given["orders"].isdigit()):
                raise ValueError(f"{given['orders']!r} is not a number of orders; write it as 120")
            figures = int(given["orders"]), given["gross"], given["refunded"] or "0"
            found = reconcile(query_of(connection), view.shop.shop_id, given["month"], *figures)
            if given["net"]:
                apart = amount_of(given["net"], found.currency) - found.report.net
        except ValueError as error:
            problem = str(error)
    orders_of_month = ""
    if found:
        first = date.fromisoformat(f"{found.month}-01")
        last = (first + timedelta(31)).replace(day=1) - timedelta(1)
        orders_of_month = view.orders_address(range=f"{first}..{last}")
    return view.page(
        "report.html",
        given=given,
        found=found,
        problem=problem,
        apart=apart,
        orders_of_month=orders_of_month,
    )
