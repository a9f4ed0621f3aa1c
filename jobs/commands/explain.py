"""`explain`: from a figure of a day to the files that brought its rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import click

from jobs.explaining.explain import explain
from jobs.run.console import json_line, printable
from jobs.run.errors import CommandFailed
from jobs.run.job_run import open_warehouse
from warehouse import command

# Facts of a summary, and rows of a fact, that people are shown; and facts in JSON.
_SHOWN: Final = 20
_IN_JSON: Final = 1_000


def explain_command(
    endpoint: str, shop: str, day: int, form: str, field: str, as_json: bool
) -> None:
    with open_warehouse(creates=False) as connection:
        try:
            most = _IN_JSON if as_json else _SHOWN
            found = explain(connection, endpoint, shop, day, form, field, most)
        except LookupError as error:
            shops = command("web shops list")
            raise CommandFailed(f"{error.args[0]}; `{shops}` shows them") from None
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(json_line(found))
        return
    for line in _lines(found):
        click.echo(printable(line))


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    of_form = f", form {found['form']}" if found["form"] else ""
    yield f"{found['endpoint']} of {found['shop']} on {found['day']} ({found['timezone']}){of_form}"
    for summary in found["summaries"]:
        yield ""
        yield f"daily_{summary['summary']}: {_figures(summary['stored'])}"
        if summary["stored"] != summary["listed"]:
            yield f"  The facts say otherwise: {_figures(summary['listed'])}. Run `verify`."
        yield from _table(summary["rows"])
        for fact in summary["facts"]:
            yield from _fact(fact, summary["measures"])
        if summary["further_facts"]:
            yield f"  {summary['further_facts']} more facts; --json lists up to {_IN_JSON}."


def _figures(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items() if value) or "nothing"


def _table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Rows in aligned columns."""
    if not rows:
        return

    def cell(value: Any) -> str:
        if isinstance(value, Mapping):
            return " ".join(f"{name}={text}" for name, text in value.items()) or "-"
        return "-" if value in ("", None) else f"{value}"

    lines = [[*rows[0]], *([cell(value) for value in row.values()] for row in rows[:_SHOWN])]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield "  " + "  ".join(cells).rstrip()
    yield from _more(rows, "rows")


def _more(rows: Sequence[Any], what: str) -> Iterator[str]:
    if len(rows) > _SHOWN:
        yield f"      {len(rows) - _SHOWN} more {what}."


def _fact(fact: Mapping[str, Any], measures: Sequence[str]) -> Iterator[str]:
    added = {name: sum(row[name] for row in fact["adds"]) for name in measures}
    yield f"  + {_figures(added)}"
    for session in fact["sessions"][:_SHOWN]:
        times = [f"{name} {session[name]}" for name in session if name.endswith("_at")]
        yield f"    session {session['form_session_id']} of form {session['form']}: {', '.join(times)}"
        yield from _events(session["events"])
        for cell in session["kept"]:
            yield f"      kept facts of batch {cell['batch']}, {cell['first']} to {cell['last']}"
    yield from _more(fact["sessions"], "sessions")
    for order in fact["orders"][:_SHOWN]:
        yield (
            f"    order {order['order_id']} of {order['created_at']}: gross {order['gross']}, refunded "
            f"{order['refunded']}, {order['customer_type']} customer"
        )
        yield f"      {order['credited']}: {order['rule']}"
        for place, version in enumerate(order["versions"][:_SHOWN]):
            stands = "stands" if place == 0 else "is replaced"
            yield f"      version of {version['updated_at']} {stands}, {_from(version)}"
    yield from _more(fact["orders"], "orders")
    yield from _events(fact.get("events", ()))


def _events(events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for event in events[:_SHOWN]:
        yield f"      {event['type']:<13} {event['at']}  {event['event_id']}, {_from(event)}"
    yield from _more(events, "events")


def _from(row: Mapping[str, Any]) -> str:
    if row["import"] is None or row["file"] is None:
        return "its import is forgotten"
    return f"import {row['import']} of {row['file']}"
