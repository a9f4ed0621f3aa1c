"""How long it takes to complete a form: the distribution of the device that the address names (`times`); and
from a sign-up to an order."""

from itertools import repeat
from typing import Any, Final

from flask import request

from web.dashboard import formatting
from web.dashboard.charts.bars import Histogram, histogram
from web.dashboard.charts.days import ages
from web.dashboard.compare import ComparedRow, Line
from web.dashboard.page import View
from web.dashboard.selection import address
from web.dashboard.statistics import FEW
from web.dashboard.table import Table, columns_of
from web.reports.form_analytics import form_funnel
from web.reports.time_to_complete import BUCKET, PERCENTILES, ROW, time_to_complete
from web.reports.time_to_order import ROW as DELAY
from web.reports.time_to_order import time_to_order

_ALL: Final = "all"
# Where the axis may have a tick, in seconds.
_SECOND, _MINUTE, _HOUR, _DAY = 1, 60, 3_600, 86_400
_TICKS: Final = (
    *(count * _SECOND for count in (1, 2, 5, 10, 15, 20, 30, 45)),
    *(count * _MINUTE for count in (1, 2, 5, 10, 20, 30)),
    *(count * _HOUR for count in (1, 2, 6, 12)),
    *(count * _DAY for count in (1, 7, 30)),
)

_column, _bucket = columns_of(ROW), columns_of(BUCKET)
_COLUMNS: Final = (
    _column("deviceType", text=lambda row: row["deviceType"].capitalize()),
    _column("completions"),
    _column("averageMs", "Average, s"),
    _column("minMs"),
    *(_column(f"p{part}Ms", f"{part} % within") for part in PERCENTILES),
    _column("maxMs"),
)
_BUCKETS: Final = (
    _bucket("fromMs", "From, s", unit="text"),
    _bucket("toMs", "up to, s"),
    _bucket("count", "Completed"),
)


def times(view: View, form_id: str) -> dict[str, Any]:
    """`time_of` is the distribution that is drawn, `times_before` its median and 90th percentile in the days
    before, None where nobody completed the form then."""
    compared = view.compared(time_to_complete, "deviceType", form_id=form_id)
    rows, by_device = compared.rows(), {row["deviceType"]: row for row in compared.now}
    device = request.args.get("times", _ALL)
    problem = ""
    if rows and device not in by_device:
        problem = f"Nobody completed the form on a device {device!r}. Choose one of the list."
        device = _ALL
    shown, before = by_device.get(device), None
    if shown:
        times = [compared.row(shown).amount(name).before for name in ("p50Ms", "p90Ms")]
        before = times if all(times) else None
    buckets = shown["buckets"] if shown else []
    bucket_rows = [
        ComparedRow({**bucket, "fromMs": formatting.seconds(bucket["fromMs"])})
        for bucket in buckets
    ]
    return {
        "time_of": shown,
        "times_before": before,
        # A form may end with the subscription.
        "submissions": view.data(form_funnel, form_id)["submissions"],
        "time_table": Table(
            view, "times", _COLUMNS, rows, marks={"row": "deviceType"}, is_numbers=True
        ),
        "bucket_table": Table(
            view,
            "buckets",
            _BUCKETS,
            bucket_rows,
            most=len(bucket_rows),
            is_numbers=True,
        ),
        "device_links": [(name, address(times=name)) for name in by_device],
        "time_problem": problem,
        "histogram": _histogram(shown) if shown else None,
    }


def _histogram(row: Line) -> Histogram:
    duration = formatting.duration
    return histogram(
        [
            (
                bucket["fromMs"],
                bucket["toMs"],
                bucket["count"],
                f"{duration(bucket['fromMs'])} to {duration(bucket['toMs'])}: "
                f"{formatting.count(bucket['count'])}",
            )
            for bucket in row["buckets"]
        ],
        [
            (row["p50Ms"], f"half within {duration(row['p50Ms'])}"),
            (row["p90Ms"], f"{formatting.percent(90)} within {duration(row['p90Ms'])}"),
        ],
        [(1_000 * seconds, duration(1_000 * seconds)) for seconds in _TICKS],
    )


# The days that are told in words, beside the last.
_TOLD: Final = (1, 7)
_delay = columns_of(DELAY)
_DELAYS: Final = (
    _delay("days", "Within days", unit="text", text=lambda row: f"{row['days'] + 1}"),
    _delay("submissions", "Old enough"),
    _delay("convertedSubmissions"),
    _delay("conversionRate", "of them", compared=True),
    _delay("orders"),
    _delay("netRevenueCents"),
)


def time_to_buy(view: View, form_id: str) -> dict[str, Any]:
    """`delays` are (name, (days, of 100 sign-ups those that bought within them) for a few days, whether the
    sign-ups are few) of each filter that stands side by side, else of one without a name; `delay_curves` are
    the lines up to the last day. All of a line are of the same sign-ups, those that are old enough for the
    last: so it does not fall. Empty where no sign-up is old enough."""
    rows, others = view.data(time_to_order, form_id), None
    if view.beside:
        others = view.beside.data(time_to_order, view.selection.window, form_id)
    most = view.comparable.most_days
    told = sorted({*(each for each in _TOLD if each < most), most})
    delays, curves = [], []
    for name, answers in zip(view.selection.sides, (view.answers, view.beside), strict=True):
        if not most or not answers:
            continue
        aged = answers.data(time_to_order, view.comparable.days_of_age(most), form_id)[:most]
        submissions = aged[-1]["submissions"]
        if submissions:
            rates = [row["conversionRate"] for row in aged]
            curves.append(rates)
            delays.append((name, [(days, rates[days - 1]) for days in told], submissions < FEW))
    lines, axes = ages(curves)
    return {
        "delays": delays,
        "delay_curves": lines,
        "delay_axes": axes,
        "delay_width": most,
        "delay_table": Table(
            view,
            "delays",
            _DELAYS,
            [
                ComparedRow(row, other=other)
                for row, other in zip(rows, others or repeat(None), strict=False)
            ],
            marks={"row": "days"},
            most=len(rows),
            is_numbers=True,
        ),
    }
