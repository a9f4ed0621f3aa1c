"""One form's funnel (6), devices (9) and trends (13)."""

from typing import Final

from warehouse.vocabulary import DEVICES
from web.figures import any_figure, form_figures, form_rates
from web.questions import Question
from web.rounding import percent
from web.shapes.forms import DeviceRow, Funnel, Stage, StageName, TrendRow

_STAGES: Final[tuple[tuple[StageName, str], ...]] = (
    ("view", "views"),
    ("start", "starts"),
    ("submit", "submissions"),
    ("convert", "converted"),
)


def form_funnel(question: Question) -> Funnel:
    """A form's funnel: from view to start, submission and order, with rates and revenue.

    The whole range in one object; orders and revenue on the submission clock.
    """
    sums = question.form_sums("funnel").total()
    views = sums["views"]
    stages: list[Stage] = []
    previous = views
    for stage, name in _STAGES:
        count = sums[name]
        stages.append(
            {
                "stage": stage,
                "count": count,
                "rateFromPrevious": percent(count, previous),
                "rateFromFirst": percent(count, views),
            }
        )
        previous = count
    return {
        "formId": question.form_id,
        **form_figures(sums),
        "startRate": percent(sums["starts"], views),
        "subscriptionRate": percent(sums["subscriptions"], views),
        "completionRate": percent(sums["completions"], views),
        **form_rates(sums),
        "stages": stages,
    }


def form_devices(question: Question) -> list[DeviceRow]:
    """The funnel by kind of device.

    A row per device type with any figure, by views descending, then name; submission clock.
    """
    sums = question.form_sums("device", by=("device",))
    views = int(sums["views"].sum())
    rows: list[DeviceRow] = [
        {
            "deviceType": DEVICES[line["device"]],
            **form_figures(line),
            **form_rates(line),
            "shareOfViews": percent(line["views"], views),
        }
        for line in sums.rows()
        if any_figure(line, "device")
    ]
    return sorted(rows, key=lambda row: (-row["views"], row["deviceType"]))


def form_trends(question: Question) -> list[TrendRow]:
    """A form day by day.

    A row per day of the range. Milestones and submissions on their day; orders and revenue
    attributed to the form, on the order's.
    """
    funnels = {line["day"]: line for line in question.form_sums("funnel", by=("day",)).rows()}
    credited = {line["day"]: line for line in question.form_sums("credit", by=("day",)).rows()}
    nothing = dict.fromkeys(("views", "starts", "subscriptions", "completions"), 0)
    nothing |= dict.fromkeys(("submissions", "converted", "orders", "gross", "refunded"), 0)
    no_credit = {"orders": 0, "gross": 0, "refunded": 0}
    rows: list[TrendRow] = []
    for day, date in question.window.dates():
        sums = funnels.get(day, nothing) | credited.get(day, no_credit)
        rows.append({"date": date, **form_figures(sums), **form_rates(sums)})
    return rows
