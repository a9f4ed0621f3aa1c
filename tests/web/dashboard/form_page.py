"""The page of one form as it follows from the API's answers: a check of each section."""

from typing import Any

from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.figure_texts import joined, rate
from tests.web.dashboard.page_text import AGED, Section, sections
from web.dashboard.formatting import count, decimal, duration, percent
from web.dashboard.formatting import money as formatted_money

FEW = 30

Rows = list[dict[str, Any]]


def form_ids(seen: Seen) -> list[str]:
    return [row["formId"] for row in seen.api("/forms/funnel", range="90d") if row["formName"]]


class Expected:
    """The texts of the page, as they follow from the API's answers about some days."""

    def __init__(self, seen: Seen, form_id: str, days: int) -> None:
        self.seen, self.form_id = seen, form_id
        meta = seen.product.get("/v1/attribution", {"range": f"{days}d"}, seen.shop_id)[1]["meta"]
        self.currency, self.range = meta["currency"], f"{days}d"

    def rows(self, path: str, **query: str) -> Any:
        return self.seen.api(f"/forms/{self.form_id}/{path}", range=self.range, **query)

    def money(self, cents: int) -> str:
        return formatted_money(cents, self.currency, exact=True)

    def amount(self, row: Any, name: str, *, is_money: bool = False) -> str:
        """A cell with an amount."""
        return self.money(row[name]) if is_money else count(row[name])

    def rate(self, row: Any, hits: str, trials: str, reason: str) -> str:
        """A cell with a rate."""
        if hits in ("convertedSubmissions", "purchasers"):
            return AGED
        return rate(row[hits], row[trials], reason)

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
    assert [stage["count"] for stage in funnel["stages"]] == [funnel[name] for _, name in STAGES]
    table, texts, previous = [], [], "views"
    for name, measure in STAGES:
        row = [name, expected.amount(funnel, measure)]
        texts.append(count(funnel[measure]) if measure != "convertedSubmissions" else AGED)
        if measure == "views":
            row += ["— (the first stage)"] * 2
        else:
            row += [
                expected.rate(funnel, measure, previous, "nobody in the stage before"),
                expected.rate(funnel, measure, "views", "no views"),
            ]
            if funnel[previous] and row[2] != AGED:
                texts.append(row[2])
        previous = measure
        table.append(row)
    cards = {
        "Submitted": rate_card(expected, funnel, "submissions", "views"),
        "Sign-ups that bought": rate_card(expected, funnel, "convertedSubmissions", "submissions"),
        "Net revenue": amount_card(
            funnel,
            "netRevenueCents",
            lambda cents: formatted_money(cents, expected.currency),
        ),
    }
    joined(expected.section(page, "From view to order")).check(table, cards=cards, others=texts)


def rate_card(expected: Expected, row: Any, hits: str, trials: str) -> list[str]:
    return [expected.rate(row, hits, trials, f"no {trials}")]


def amount_card(row: Any, name: str, show: Any) -> list[str]:
    return [show(row[name])]


def check_steps(page: str, expected: Expected) -> None:
    rows = expected.rows("steps/dropoff")
    most = max((row["dropoffs"] for row in rows), default=0) if len(rows) > 1 else 0
    table, texts = [], []
    for row in rows:
        name = row["stepName"] or row["stepId"]
        mark = " loses most" if row["dropoffs"] == most and most else ""
        table.append(
            [
                name + mark,
                expected.amount(row, "views"),
                count(row["completions"]),
                percent(row["completionRate"]) if row["views"] else "— (nobody saw it)",
                expected.amount(row, "dropoffs"),
                expected.rate(row, "dropoffs", "views", "nobody saw it"),
                percent(row["shareOfDropoffs"]),
            ]
        )
        texts += [
            count(row["views"]),
            *([percent(row["dropoffRate"])] if row["views"] else []),
            *([name] if any(map(str.isdigit, name)) else []),
        ]
    expected.section(page, "Steps").check(*([table] if table else []), others=texts)


PERCENTILES = ("p25Ms", "p50Ms", "p75Ms", "p90Ms", "p95Ms", "p99Ms")


def check_times(page: str, expected: Expected, device: str = "all") -> None:
    rows = expected.rows("time-to-complete")
    section = expected.section(page, "Time to complete")
    if not rows:
        section.check()
        return
    shown = next(row for row in rows if row["deviceType"] == device)
    half, most = duration(shown["p50Ms"]), duration(shown["p90Ms"])
    # The ticks of the axis: places that the page chooses, no figures of the shop.
    ticks = [text for text in section.others if text in AXIS]
    texts = [f"half within {half}"]
    texts += [f"{percent(90)} within {most}", *ticks]
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
    rows = expected.rows("devices")
    table = []
    for row in rows:
        table.append(
            [
                row["deviceType"].capitalize(),
                expected.amount(row, "views"),
                percent(row["shareOfViews"]),
                expected.amount(row, "starts"),
                expected.amount(row, "submissions"),
                expected.rate(row, "submissions", "views", "no views"),
                expected.amount(row, "convertedSubmissions"),
                expected.rate(row, "convertedSubmissions", "submissions", "no submissions"),
                expected.amount(row, "netRevenueCents", is_money=True),
            ]
        )
    expected.section(page, "Devices").check(*([table] if table else []))


def check_visitors(page: str, expected: Expected) -> None:
    table = []
    for row in expected.rows("visitor-conversion"):
        table.append(
            [
                row["visitorType"].capitalize(),
                expected.amount(row, "visitors"),
                expected.amount(row, "submitters"),
                expected.rate(row, "submitters", "visitors", "nobody saw it"),
                expected.amount(row, "purchasers"),
                expected.rate(row, "purchasers", "submitters", "nobody submitted"),
                expected.rate(row, "purchasers", "visitors", "nobody saw it"),
            ]
        )
    expected.section(page, "Visitors").check(table)
