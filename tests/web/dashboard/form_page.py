"""The page of one form as it follows from the API's answers: a check of each section."""

from datetime import date, timedelta
from typing import Any

from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.figure_texts import joined, rate
from tests.web.dashboard.page_text import Section, sections
from tests.web.dashboard.written import cell, former, money, nothing
from web.dashboard import statistics
from web.dashboard.formatting import count, decimal, duration, percent
from web.dashboard.formatting import money as formatted_money

FEW = 30

Rows = list[dict[str, Any]]


def form_ids(seen: Seen) -> list[str]:
    return [row["formId"] for row in seen.api("/forms/funnel", range="90d") if row["formName"]]


class Expected:
    """The texts of the page, as they follow from the API's answers about some days and those before."""

    def __init__(self, seen: Seen, form_id: str, days: int, *, compared: bool = True) -> None:
        self.seen, self.form_id, self.compared = seen, form_id, compared
        meta = seen.product.get("/v1/attribution", {"range": f"{days}d"}, seen.shop_id)[1]["meta"]
        self.currency, self.range = meta["currency"], f"{days}d"
        first = date.fromisoformat(
            seen.api(f"/forms/{form_id}/trends", range=self.range)[0]["date"]
        )
        self.range_before = f"{first - timedelta(days)}..{first - timedelta(1)}"

    def rows(self, path: str, **query: str) -> Any:
        return self.seen.api(f"/forms/{self.form_id}/{path}", range=self.range, **query)

    def before(self, path: str, *keys: str) -> dict[tuple[str, ...], dict[str, Any]]:
        if not self.compared:
            return {}
        rows = self.seen.api(f"/forms/{self.form_id}/{path}", range=self.range_before)
        return {
            tuple(row[key] for key in keys): row
            for row in (rows if isinstance(rows, list) else [rows])
        }

    def money(self, cents: int) -> str:
        return formatted_money(cents, self.currency, exact=True)

    def amount(self, row: Any, before: Any, name: str, *, is_money: bool = False) -> str:
        """A cell with an amount: now, before, and the change in per cent."""
        then = (before or {}).get(name, 0) if self.compared else None
        text = self.money(row[name]) if is_money else count(row[name])
        return cell(text, former(row[name], then, money(self.currency) if is_money else count))

    def rate(self, row: Any, before: Any, hits: str, trials: str, reason: str) -> str:
        """A cell with a rate: its interval, its value before and the change."""
        if not row[trials]:
            return nothing(reason)
        then = (before or {}).get(trials, 0)
        return rate(row[hits], row[trials], (before[hits], then) if then else None, interval=True)

    def section(self, page: str, heading: str) -> Section:
        return sections(page)[heading]


def rate_of(hits: int, trials: int) -> float:
    """As the API rounds it: half up, to two decimals."""
    return (2 * 10_000 * hits + trials) // (2 * trials) / 100


STAGES = (
    ("Viewed", "views"),
    ("Started", "starts"),
    ("Submitted", "submissions"),
    ("Bought", "convertedSubmissions"),
)


def check_funnel(page: str, expected: Expected) -> None:
    funnel = expected.rows("funnel")
    (before,) = expected.before("funnel").values() or (None,)
    assert [stage["count"] for stage in funnel["stages"]] == [funnel[name] for _, name in STAGES]
    table, texts, previous = [], [], "views"
    for stage, (name, measure) in zip(funnel["stages"], STAGES, strict=True):
        row = [name, expected.amount(funnel, before, measure)]
        texts.append(count(stage["count"]))
        if measure == "views":
            row += ["— (the first stage)"] * 2
        else:
            row += [
                expected.rate(funnel, before, measure, previous, "nobody in the stage before"),
                expected.rate(funnel, before, measure, "views", "no views"),
            ]
            if funnel[previous]:
                texts.append(f"{percent(stage['rateFromPrevious'])} of the stage before")
            if funnel["views"]:
                texts.append(f"{percent(stage['rateFromFirst'])} of views")
        previous = measure
        table.append(row)
    cards = {
        "Submitted": rate_card(expected, funnel, before, "submissions", "views"),
        "Bought after submitting": rate_card(
            expected, funnel, before, "convertedSubmissions", "submissions"
        ),
        "Orders": amount_card(funnel, before, "orders", count),
        "Net revenue": amount_card(
            funnel,
            before,
            "netRevenueCents",
            lambda cents: formatted_money(cents, expected.currency),
        ),
    }
    joined(expected.section(page, "From view to order")).check(table, cards=cards, others=texts)


def rate_card(expected: Expected, row: Any, before: Any, hits: str, trials: str) -> list[str]:
    return [expected.rate(row, before, hits, trials, "no one yet")]


def amount_card(row: Any, before: Any, name: str, show: Any) -> list[str]:
    return [cell(show(row[name]), former(row[name], before and before[name], show))]


def check_steps(page: str, expected: Expected) -> list[str]:
    """Returns the names of the steps that are said to lose more than before."""
    rows, before = expected.rows("steps/dropoff"), expected.before("steps/dropoff", "stepId")
    most = max((row["dropoffs"] for row in rows), default=0)
    table, texts, risen = [], [], []
    for row in rows:
        then = before.get((row["stepId"],))
        name = row["stepName"] or row["stepId"]
        mark = " loses most" if row["dropoffs"] == most and most else ""
        table.append(
            [
                name + mark,
                expected.amount(row, then, "views"),
                count(row["completions"]),
                percent(row["completionRate"]) if row["views"] else "— (nobody saw it)",
                expected.amount(row, then, "dropoffs"),
                expected.rate(row, then, "dropoffs", "views", "nobody saw it"),
                percent(row["shareOfDropoffs"]),
            ]
        )
        texts += [
            count(row["views"]),
            f"{count(row['dropoffs'])} left, {percent(row['dropoffRate'])}",
            *([name] if any(map(str.isdigit, name)) else []),
        ]
        if then:
            between = statistics.of_difference(
                row["dropoffs"], row["views"], then["dropoffs"], then["views"]
            )
            if between.low > 0:
                risen.append(name)
                texts.append(
                    f"loses more than before: {percent(row['dropoffRate'])} of those who saw it left "
                    f"there, {percent(then['dropoffRate'])} before. Chance alone does not explain it."
                )
                texts += [name] if any(map(str.isdigit, name)) else []
    expected.section(page, "Steps").check(*([table] if table else []), others=texts)
    return risen


PERCENTILES = ("p25Ms", "p50Ms", "p75Ms", "p90Ms", "p95Ms", "p99Ms")


def check_times(page: str, expected: Expected, device: str = "all") -> None:
    rows = expected.rows("time-to-complete")
    section = expected.section(page, "Time to complete")
    if not rows:
        section.check()
        return
    before = expected.before("time-to-complete", "deviceType").get((device,))
    shown = next(row for row in rows if row["deviceType"] == device)
    half, most = duration(shown["p50Ms"]), duration(shown["p90Ms"])
    # The ticks of the axis: places that the page chooses, no figures of the shop.
    ticks = [text for text in section.others if text in AXIS]
    texts = [half, most, f", {percent(90)} within", f"half within {half}"]
    texts += [f"{percent(90)} within {most}", *ticks]
    if before:
        texts.append(f". Before: {duration(before['p50Ms'])} and {duration(before['p90Ms'])}.")
    texts += [
        f"{duration(bucket['fromMs'])} to {duration(bucket['toMs'])}: {count(bucket['count'])}"
        for bucket in shown["buckets"]
    ]
    section.check(
        [
            [
                row["deviceType"].capitalize(),
                count(row["completions"]),
                *(
                    decimal(row[name] / 1000)
                    for name in ("averageMs", "minMs", *PERCENTILES, "maxMs")
                ),
            ]
            for row in rows
        ],
        [
            [
                decimal(bucket["fromMs"] / 1000),
                decimal(bucket["toMs"] / 1000),
                count(bucket["count"]),
            ]
            for bucket in shown["buckets"]
        ],
        others=texts,
    )


AXIS = {
    *(f"{number} s" for number in (1, 2, 5, 10, 15, 20, 30, 45)),
    *(f"{number} min" for number in (1, 2, 5, 10, 20, 30)),
    *(f"{number} h" for number in (1, 2, 6, 12, 24, 168, 720)),
}


def check_devices(page: str, expected: Expected) -> None:
    rows, before = expected.rows("devices"), expected.before("devices", "deviceType")
    table, texts = [], []
    for row in rows:
        then = before.get((row["deviceType"],))
        table.append(
            [
                row["deviceType"].capitalize(),
                expected.amount(row, then, "views"),
                percent(row["shareOfViews"]),
                expected.amount(row, then, "starts"),
                expected.amount(row, then, "submissions"),
                expected.rate(row, then, "submissions", "views", "no views"),
                expected.amount(row, then, "convertedSubmissions"),
                expected.rate(row, then, "convertedSubmissions", "submissions", "no submissions"),
                expected.amount(row, then, "netRevenueCents", is_money=True),
            ]
        )
        texts += [f"{percent(row['shareOfViews'])} of all views", count(row["views"])]
        if row["views"]:
            texts += [percent(rate_of(row[name], row["views"])) for _, name in STAGES[1:]]
            assert row["submissionRate"] == rate_of(row["submissions"], row["views"])
    expected.section(page, "Devices").check(*([table] if table else []), others=texts)


def check_visitors(page: str, expected: Expected) -> None:
    before = expected.before("visitor-conversion", "visitorType")
    table = []
    for row in expected.rows("visitor-conversion"):
        then = before.get((row["visitorType"],))
        table.append(
            [
                row["visitorType"].capitalize(),
                expected.amount(row, then, "visitors"),
                expected.amount(row, then, "submitters"),
                expected.rate(row, then, "submitters", "visitors", "nobody saw it"),
                expected.amount(row, then, "purchasers"),
                expected.rate(row, then, "purchasers", "submitters", "nobody submitted"),
                expected.rate(row, then, "purchasers", "visitors", "nobody saw it"),
            ]
        )
    expected.section(page, "Visitors").check(table)
