"""The page of one form as it follows from the API's answers: a check of each section."""

from datetime import date, timedelta
from typing import Any

from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.page_text import Section, sections
from web.dashboard import statistics
from web.dashboard.formatting import count, decimal, duration, interval, percent
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
        show = self.money if is_money else count
        if not self.compared:
            return show(row[name])
        former = (before or {}).get(name, 0)
        return f"{show(row[name])} {show(former)} before{percent_change(row[name], former)}"

    def change(self, row: Any, before: Any, hits: str, trials: str) -> str:
        """A cell with the change of a rate."""
        words = []
        former = (before or {}).get(trials, 0)
        if former and row[trials]:
            words.append(points(row[hits], row[trials], before[hits], former))
        if row[trials] < FEW:
            words.append("few")
        if former:
            words.append(f"{percent(rate_of(before[hits], former))} before")
        return " ".join(words)

    def section(self, page: str, heading: str) -> Section:
        return sections(page)[heading]


def rate_of(hits: int, trials: int) -> float:
    """As the API rounds it: half up, to two decimals."""
    return (2 * 10_000 * hits + trials) // (2 * trials) / 100


def points(hits: int, trials: int, hits_before: int, trials_before: int) -> str:
    change = round(rate_of(hits, trials) - rate_of(hits_before, trials_before), 2)
    text = f"{'+' if change > 0 else ''}{decimal(change, 1)} points"
    between = statistics.of_difference(hits, trials, hits_before, trials_before)
    return f"{text} within chance" if between.low <= 0 <= between.high else text


def percent_change(now: int, before: int) -> str:
    if not before:
        return ""
    change = abs(now - before) * 10_000
    rounded = (2 * change + abs(before)) // (2 * abs(before)) / 100
    if (now < before) != (before < 0):
        rounded = -rounded
    return f" {'+' if rounded > 0 else ''}{percent(rounded)}"


def rate_cell(row: Any, hits: str, trials: str, reason: str) -> str:
    if not row[trials]:
        return f"— ({reason})"
    reach = interval(statistics.of_rate(row[hits], row[trials]))
    return f"{percent(rate_of(row[hits], row[trials]))} {reach}"


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
            row += ["— (the first stage)", "", "— (the first stage)", ""]
        else:
            row += [
                rate_cell(funnel, measure, previous, "nobody in the stage before"),
                expected.change(funnel, before, measure, previous),
                rate_cell(funnel, measure, "views", "no views"),
                expected.change(funnel, before, measure, "views"),
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
    expected.section(page, "From view to order").check(table, cards=cards, others=texts)


def rate_card(expected: Expected, row: Any, before: Any, hits: str, trials: str) -> list[str]:
    words = [percent(rate_of(row[hits], row[trials]))] if row[trials] else ["—", "(no one yet)"]
    former = before[trials] if before else 0
    if former and row[trials]:
        change = points(row[hits], row[trials], before[hits], former)
        value, chance, _ = change.partition(" within chance")
        words += [value, chance.strip()] if chance else [value]
    if row[trials] < FEW:
        words.append("few")
    reach = interval(statistics.of_rate(row[hits], row[trials]))
    return [
        *words,
        f"{reach}, before {percent(rate_of(before[hits], former))}" if former else reach,
    ]


def amount_card(row: Any, before: Any, name: str, show: Any) -> list[str]:
    if before is None:
        return [show(row[name])]
    if before[name]:
        change = percent_change(row[name], before[name]).strip()
    else:
        change = "none before" if row[name] else "none before either"
    return [show(row[name]), change, f"before {show(before[name])}"]


def check_steps(page: str, expected: Expected) -> list[str]:
    """Returns the names of the steps that are said to lose more than before."""
    rows, before = expected.rows("steps/dropoff"), expected.before("steps/dropoff", "stepId")
    most = max((row["dropoffs"] for row in rows), default=0)
    table, texts, risen = [], [], []
    for row in rows:
        former = before.get((row["stepId"],))
        name = row["stepName"] or row["stepId"]
        mark = " loses most" if row["dropoffs"] == most and most else ""
        table.append(
            [
                name + mark,
                expected.amount(row, former, "views"),
                count(row["completions"]),
                percent(row["completionRate"]) if row["views"] else "— (nobody saw it)",
                expected.amount(row, former, "dropoffs"),
                rate_cell(row, "dropoffs", "views", "nobody saw it"),
                expected.change(row, former, "dropoffs", "views"),
                percent(row["shareOfDropoffs"]),
            ]
        )
        texts += [
            count(row["views"]),
            f"{count(row['dropoffs'])} left, {percent(row['dropoffRate'])}",
            *([name] if any(map(str.isdigit, name)) else []),
        ]
        if former:
            between = statistics.of_difference(
                row["dropoffs"], row["views"], former["dropoffs"], former["views"]
            )
            if between.low > 0:
                risen.append(name)
                texts.append(
                    f"loses more than before: {percent(row['dropoffRate'])} of those who saw it left "
                    f"there, {percent(former['dropoffRate'])} before. Chance alone does not explain it."
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
        former = before.get((row["deviceType"],))
        table.append(
            [
                row["deviceType"].capitalize(),
                expected.amount(row, former, "views"),
                percent(row["shareOfViews"]),
                expected.amount(row, former, "starts"),
                expected.amount(row, former, "submissions"),
                rate_cell(row, "submissions", "views", "no views"),
                expected.change(row, former, "submissions", "views"),
                expected.amount(row, former, "convertedSubmissions"),
                rate_cell(row, "convertedSubmissions", "submissions", "no submissions"),
                expected.change(row, former, "convertedSubmissions", "submissions"),
                expected.amount(row, former, "netRevenueCents", is_money=True),
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
        former = before.get((row["visitorType"],))
        table.append(
            [
                row["visitorType"].capitalize(),
                expected.amount(row, former, "visitors"),
                expected.amount(row, former, "submitters"),
                rate_cell(row, "submitters", "visitors", "nobody saw it"),
                expected.change(row, former, "submitters", "visitors"),
                expected.amount(row, former, "purchasers"),
                rate_cell(row, "purchasers", "submitters", "nobody submitted"),
                expected.change(row, former, "purchasers", "submitters"),
                rate_cell(row, "purchasers", "visitors", "nobody saw it"),
            ]
        )
    expected.section(page, "Visitors").check(table)
