"""`reconcile`: compare a month with the shop's own report, and name the causes of each difference."""

from collections.abc import Iterator

import click

from jobs.run.console import json_line, printable
from jobs.run.errors import CommandFailed
from jobs.run.job_run import open_warehouse
from warehouse import command
from warehouse.domain.vocabulary import minor_units
from warehouse.shops.reconcile import Cause, OrderSums, Reconciled, amount_of, reconcile


def reconcile_command(
    shop: str, month: str, orders: int, gross: str, refunded: str, net: str | None, as_json: bool
) -> None:
    with open_warehouse(creates=False) as connection:
        try:
            found = reconcile(
                lambda sql: connection.table(sql).to_pylist(), shop, month, orders, gross, refunded
            )
            stated = None if net is None else amount_of(net, found.currency)
        except LookupError as error:
            raise CommandFailed(
                f"{error.args[0]}; `{command('web shops list')}` shows them"
            ) from None
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    apart = 0 if stated is None else stated - found.report.net
    if as_json:
        fields = {
            "shop": found.shop_id,
            "month": found.month,
            "currency": found.currency,
            "timezone": found.timezone,
            "report": _numbers(found.report),
            "here": _numbers(found.here),
            "difference": _numbers(found.report - found.here),
            "causes": [_of_cause(cause) for cause in found.causes],
            "unexplained": _numbers(found.unexplained),
            "known": [_of_cause(cause) for cause in found.known],
            "alternatives": found.alternatives,
            "report_net_apart_cents": apart,
        }
        click.echo(json_line(fields))
        return
    for line in _lines(found, apart):
        click.echo(printable(line))


def _numbers(sums: OrderSums) -> dict[str, int]:
    return {
        "orders": sums.orders,
        "gross_cents": sums.gross,
        "refunded_cents": sums.refunded,
        "net_cents": sums.net,
    }


def _of_cause(cause: Cause) -> dict[str, object]:
    return {"cause": cause.name, **_numbers(cause.sums), "sentence": cause.sentence}


def _lines(found: Reconciled, apart: int) -> Iterator[str]:
    units = minor_units(found.currency)
    places = len(str(units)) - 1

    def row(name: str, sums: OrderSums, sign: str = "") -> str:
        money = (
            f"{number / units:{sign},.{places}f}"
            for number in (sums.gross, sums.refunded, sums.net)
        )
        return f"{name:<18}{sums.orders:>{sign}8}" + "".join(f"{text:>16}" for text in money)

    yield f"{found.shop_id}, {found.month}, in {found.currency}, by days of {found.timezone}"
    yield f"{'':<18}{'orders':>8}{'gross':>16}{'refunded':>16}{'net':>16}"
    yield row("your report", found.report)
    yield row("here", found.here)
    yield row("difference", found.report - found.here, "+")
    for cause in found.causes:
        yield row(cause.name.replace("_", " "), cause.sums, "+")
        yield f"    {cause.sentence}"
    yield row("unexplained", found.unexplained, "+")
    if found.unexplained != OrderSums():
        yield (
            "    No reading of the rows here gives your report. It may leave out taxes, shipping or tips, "
            "or be of another month or shop."
        )
    for names in found.alternatives:
        yield f"These would give your report, too: {', '.join(names).replace('_', ' ')}."
    if found.known:
        yield "Also known of this month; each by itself would change your report by:"
        for cause in found.known:
            yield row(f"  {cause.name.replace('_', ' ')}", cause.sums, "+")
    if apart:
        yield (
            f"The net of your report is {apart / units:+,.{places}f} from its gross less its refunds: it has "
            "something else in it, such as taxes, shipping or discounts."
        )
