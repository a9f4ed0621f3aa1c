"""Every number on the page of one form is the API's, but for its section "Days"."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.people import Browser, add_member
from tests.support.product import Product
from tests.support.shop_builder import known_shop
from tests.support.worlds import NOW, World
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.page_text import Row, Section, sections
from tests.web.dashboard.test_many import MAX_BYTES
from tests.web.dashboard.test_pages import form_ids, in_english
from warehouse.connections.engine import open_engine
from web.app import close_app, create_app
from web.dashboard import statistics
from web.dashboard.formatting import count, decimal, duration, interval, percent
from web.dashboard.formatting import money as formatted_money

QUIZ = "8f0e0000-0000-4000-8000-000000000001"
EMPTY = "8f0e0000-0000-4000-8000-000000000002"
FEW = 30
# The most rows of a table of answers, and the most answers on a side of a heat map.
MOST_ROWS, SIDE = 100, 10

Rows = list[dict[str, Any]]


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


def answer_row(expected: Expected, row: Any, former: Any) -> Row:
    per = expected.money(row["revenuePerSubmissionCents"])
    if former and former["submissions"]:
        old = former["revenuePerSubmissionCents"]
        per += f" {expected.money(old)} before"
        per += percent_change(row["revenuePerSubmissionCents"], old)
    return [
        row["fieldId"],
        "no answer" if row["value"] is None else row["value"],
        count(row["submissions"]),
        rate_cell(row, "convertedSubmissions", "submissions", "no submissions"),
        expected.change(row, former, "convertedSubmissions", "submissions"),
        expected.money(row["netRevenueCents"]),
        per if row["submissions"] else "— (no submissions)",
        "",
    ]


def check_answers(page: str, expected: Expected, rows: Rows | None = None) -> None:
    """The first rows in the order of the API, or of `rows`."""
    if rows is None:
        rows = expected.rows("response-revenue")
    before = expected.before("response-revenue", "fieldId", "value")
    table = [
        answer_row(expected, row, before.get((row["fieldId"], row["value"])))
        for row in rows[:MOST_ROWS]
    ]
    texts = []
    if len(rows) > MOST_ROWS:
        texts.append(f"The first {MOST_ROWS} of {count(len(rows))} rows; the CSV has all.")
    expected.section(page, "Answers").check(*([table] if table else []), others=texts)


def check_crossed(page: str, expected: Expected, field: str, by: str) -> Section:
    """Two questions; the heat map in any order of its answers, since the page chooses that."""
    section = expected.section(page, "Two questions together")
    cells = expected.rows("cross-field", fieldA=field, fieldB=by)
    if not cells:
        section.check()
        return section
    totals = [Counter[str](), Counter[str]()]
    for cell in cells:
        totals[0][cell["valueA"]] += cell["count"]
        totals[1][cell["valueB"]] += cell["count"]
    side_a, side_b = (set(dict(total.most_common(SIDE))) for total in totals)
    heat, table = section.tables
    columns = heat_columns(page)
    assert {row[0] for row in heat} == side_a
    assert set(columns) == side_b
    by_pair = {(cell["valueA"], cell["valueB"]): cell for cell in cells}
    is_cut = len(cells) >= 1_000
    for name, *shown in heat:
        for other, text in zip(columns, shown, strict=True):
            cell = by_pair.get((name, other))
            if cell is None:
                total = sum(totals[0].values())
                few = " few" if totals[0][name] * totals[1][other] < FEW * total else ""
                assert text == ("— (one of too many pairs)" if is_cut else f"0{few}")
            else:
                few = " few" if max(cell["count"], cell["expectedCount"]) < FEW else ""
                assert text == f"{decimal(cell['lift'])}{few}"
    assert table == [
        [
            cell["valueA"],
            cell["valueB"],
            count(cell["count"]),
            decimal(cell["expectedCount"], 1),
            decimal(cell["lift"]),
            percent(cell["rowPercent"]),
            percent(cell["columnPercent"]),
            percent(cell["totalPercent"]),
            count(cell["convertedSubmissions"]),
            percent(cell["conversionRate"]),
        ]
        for cell in cells
        if cell["valueA"] in side_a and cell["valueB"] in side_b
    ]
    strong = [] if is_cut else [cell for cell in cells if is_beyond_chance(cell, cells, *totals)]
    strong.sort(key=lambda cell: -cell["lift"])
    told = []
    for cell in strong[:3]:
        told += [name for name in (cell["valueA"], cell["valueB"]) if any(map(str.isdigit, name))]
        told.append(f"{decimal(cell['lift'], 1)} times as often as chance would have it.")
    if min(map(len, totals)) > 1 and not is_cut:
        told.append(f"(Cramér’s V {decimal(cells[0]['cramersV'])}).")
    clock = (
        "Times as often as chance would have it: 1 is chance, 2 is twice as often. "
        "Few, without a colour: less than 30 submissions, counted and expected."
    )
    if max(map(len, totals)) > SIDE:
        clock += " Shown are the most frequent answers; the CSV has more."
    section.check(heat, table, others=[*told, clock])
    return section


def heat_columns(page: str) -> list[str]:
    """The headings of the heat map, which are answers too."""
    head = page.partition('class="heat"')[2].partition("</thead>")[0]
    return [part.partition("</bdi>")[0] for part in head.split("<bdi>")[1:]]


def is_beyond_chance(
    cell: Any, cells: Rows, totals_a: Counter[str], totals_b: Counter[str]
) -> bool:
    """Whether those with the first answer gave the second one more often than the others did."""
    with_a = totals_a[cell["valueA"]]
    between = statistics.of_difference(
        cell["count"],
        with_a,
        totals_b[cell["valueB"]] - cell["count"],
        sum(other["count"] for other in cells) - with_a,
    )
    return cell["count"] >= FEW and between.low > 0


def check_all(page: str, expected: Expected) -> None:
    check_funnel(page, expected)
    check_steps(page, expected)
    check_times(page, expected)
    check_devices(page, expected)
    check_visitors(page, expected)
    check_answers(page, expected)
    fields = sorted({row["fieldId"] for row in expected.rows("response-revenue")})
    if len(fields) > 1:
        check_crossed(page, expected, *fields[:2])
    else:
        expected.section(page, "Two questions together").check()


@pytest.mark.parametrize("compare", ["previous", "none"])
@pytest.mark.parametrize("days", [7, 30, 90])
def test_every_number_of_a_random_shop(seen: Seen, days: int, compare: str) -> None:
    for form_id in form_ids(seen):
        page = seen.page(f"/forms/{form_id.upper()}", range=f"{days}d", compare=compare)
        with in_english(seen):
            check_all(page, Expected(seen, form_id, days, compared=compare == "previous"))


# What each group of visitors of the quiz does. Skin and serum go together; the more the skin is dry, the
# more often people buy.
SKINS = ("dry", "oily", "mixed")


def session(number: int, day: datetime, kind: str, *moments: dict[str, Any]) -> Rows:
    shared = {
        "shop_id": "quiz.example",
        "form_id": QUIZ,
        "form_session_id": f"{kind}{number}",
        # Every tenth visitor comes back.
        "visitor_id": f"{kind}{number - number % 10 // 9}",
        "device_type": "mobile" if number % 3 else "desktop",
    }
    return [
        {
            **shared,
            **moment,
            "event_id": f"{kind}{number}-{place}",
            "occurred_at": (day + timedelta(seconds=place * (1 + number % 41))).isoformat(),
        }
        for place, moment in enumerate(moments)
    ]


def answer(field: str, value: object, type: str = "choice") -> dict[str, Any]:
    return {"type": "answer", "field_id": field, "field_type": type, "value": value}


def step(index: int, kind: str = "step_view") -> dict[str, Any]:
    return {"type": kind, "step_id": f"s{index}", "step_index": index, "step_name": f"Step {index}"}


def quiz(day: datetime, kind: str, *, patience: int) -> tuple[Rows, Rows]:
    """Events and orders of 300 visitors, of whom 1 in `patience` leaves at the second step."""
    events: Rows = []
    orders: Rows = []
    for number in range(300):
        skin, hour = SKINS[number % 3], day + timedelta(minutes=number)
        # Four of five take the serum of their skin; there are 14 in all.
        serum = skin if number % 5 else f"serum {number % 11}"
        begin = [{"type": "view"}, {"type": "start"}, step(0), step(0, "step_complete")]
        if number % 7 == 0:
            events += session(number, hour, kind, {"type": "view"})
            continue
        if number % patience == 0:
            events += session(number, hour, kind, *begin, step(1))
            continue
        moments = [
            answer("skin", skin),
            answer("serum", serum),
            answer("effort", number % 4, "scale"),
            answer("concerns", ["lines", "spots"][: 1 + number % 2], "multi_choice"),
            step(1),
            step(1, "step_complete"),
            {"type": "complete"},
        ]
        events += session(number, hour, kind, *begin, *moments)
        if skin == "dry" and number % 2:
            orders.append(
                {
                    "order_id": f"{kind}{number}",
                    "shop_id": "quiz.example",
                    "created_at": (hour + timedelta(hours=1)).isoformat(),
                    "visitor_id": f"{kind}{number - number % 10 // 9}",
                    "total_cents": 1_000 + number,
                }
            )
    return events, orders


@pytest.fixture(scope="module")
def quiz_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A warehouse with a shop whose second step came to lose more, and two forms of another one."""
    url = f"sqlite:///{tmp_path_factory.mktemp('quiz') / 'warehouse.db'}"
    product, today = Product(url), datetime.now(UTC).replace(hour=0, minute=0, second=0)
    product.load(
        "shops",
        [
            {"shop_id": "quiz.example", "currency": "EUR"},
            {"shop_id": "other.example", "currency": "EUR"},
        ],
    )
    product.load(
        "forms",
        [
            {"form_id": QUIZ, "shop_id": "quiz.example", "name": "Quiz"},
            {"form_id": EMPTY, "shop_id": "quiz.example", "name": "Empty"},
        ],
    )
    for kind, ago, patience in (("now", 2, 4), ("then", 9, 20)):
        events, orders = quiz(today - timedelta(days=ago), kind, patience=patience)
        product.load("events", events)
        product.load("orders", orders)
    product.rollup()
    product.close()
    return url


@pytest.fixture
def shop(quiz_url: str) -> Iterator[Seen]:
    engine, app = open_engine(quiz_url), create_app(quiz_url)
    browser = Browser(app.test_client())
    email = f"ada{id(app)}@example.com"
    add_member(engine, known_shop(engine, "quiz.example"), email)
    browser.sign_in(email)
    yield Seen(browser, Product(quiz_url), World(0, NOW, {}, {}), "quiz.example")
    close_app(app)
    engine.dispose()


def test_every_number_of_the_quiz(shop: Seen) -> None:
    page = shop.page(f"/forms/{QUIZ}", range="7d")
    with in_english(shop):
        expected = Expected(shop, QUIZ, 7)
        check_all(page, expected)
        # The first step loses nobody, and the second one loses more than before.
        assert check_steps(page, expected) == ["Step 1"]
        assert expected.section(page, "Steps").tables[0][1][0] == "Step 1 loses most"


def test_steps_that_always_lost_as_much_are_not_named(shop: Seen) -> None:
    page = shop.page(f"/forms/{QUIZ}", range="7d", compare="none")
    with in_english(shop):
        assert check_steps(page, Expected(shop, QUIZ, 7, compared=False)) == []
    assert "loses more than before" not in page


def test_a_form_without_events(shop: Seen) -> None:
    page = shop.page(f"/forms/{EMPTY}", range="7d")
    with in_english(shop):
        check_all(page, Expected(shop, EMPTY, 7))
    for sentence in (
        "No session saw a step",
        "Nobody completed the form",
        "Nobody saw the form",
        "No submission of these days answered",
        "Less than two questions were answered",
    ):
        assert sentence in page


@pytest.mark.parametrize("device", ["all", "desktop", "mobile"])
def test_times_of_a_device(shop: Seen, device: str) -> None:
    page = shop.page(f"/forms/{QUIZ}", range="7d", device=device)
    with in_english(shop):
        check_times(page, Expected(shop, QUIZ, 7), device)
    name = "All devices" if device == "all" else device.capitalize()
    switch = page.partition('aria-label="Device"')[2].partition("</nav>")[0]
    assert f'device={device}#times" aria-current="true">{name}</a>' in switch
    assert switch.count("aria-current") == 1


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("question", lambda row: row["fieldId"]),
        ("answer", lambda row: row["value"]),
        ("submissions", lambda row: row["submissions"]),
        ("bought", lambda row: row["conversionRate"]),
        ("net", lambda row: row["netRevenueCents"]),
        ("per", lambda row: row["revenuePerSubmissionCents"]),
    ],
)
@pytest.mark.parametrize("sign", ["", "-"])
def test_answers_are_sorted(shop: Seen, column: str, value: Any, sign: str) -> None:
    page = shop.page(f"/forms/{QUIZ}", range="7d", sort=f"answers.{sign}{column}")
    with in_english(shop):
        expected = Expected(shop, QUIZ, 7)
        rows = expected.rows("response-revenue")
        known = [row for row in rows if value(row) is not None]
        known.sort(key=value, reverse=bool(sign))
        check_answers(page, expected, known + [row for row in rows if value(row) is None])
    assert f'aria-sort="{"descending" if sign else "ascending"}"' in page


@pytest.mark.parametrize(
    ("asked", "crossed"),
    [
        ({}, ("concerns", "effort")),
        ({"field": "skin", "by": "serum"}, ("skin", "serum")),
        ({"field": "serum", "by": "skin"}, ("serum", "skin")),
        ({"field": "skin"}, ("skin", "concerns")),
        ({"by": "concerns"}, ("effort", "concerns")),
    ],
)
def test_two_questions(shop: Seen, asked: dict[str, str], crossed: Sequence[str]) -> None:
    page = shop.page(f"/forms/{QUIZ}", range="7d", **asked)
    with in_english(shop):
        check_crossed(page, Expected(shop, QUIZ, 7), *crossed)
    for name, field in zip(("field", "by"), crossed, strict=True):
        select = page.partition(f'<select id="{name}"')[2].partition("</select>")[0]
        assert f"<option selected>{field}</option>" in select


def test_strong_pairs_are_told_and_those_of_chance_are_not(shop: Seen) -> None:
    page = shop.page(f"/forms/{QUIZ}", range="7d", field="skin", by="serum")
    words = " ".join(sections(page)["Two questions together"].others)
    assert "These answers are strongly related" in words
    for skin in SKINS:
        assert f"People who answer {skin} choose {skin}" in words
    page = shop.page(f"/forms/{QUIZ}", range="7d", field="concerns", by="skin")
    words = " ".join(sections(page)["Two questions together"].others)
    assert "These answers are hardly related" in words
    assert "No pair of answers goes together more often than chance explains." in words


@pytest.mark.parametrize(
    ("asked", "heading", "told"),
    [
        (
            {"field": "teint", "by": "skin"},
            "Two questions together",
            "No submission of these days answered 'teint'. Choose a question of the list.",
        ),
        (
            {"field": "skin", "by": "skin"},
            "Two questions together",
            "Both questions are 'skin'. Choose two different ones.",
        ),
        (
            {"device": "toaster"},
            "Time to complete",
            "Nobody completed the form on a device 'toaster'. Choose one of the list.",
        ),
        (
            {"sort": "answers.colour"},
            "Answers",
            "This table cannot be sorted by 'colour'. Choose one of its headings.",
        ),
    ],
)
def test_a_bad_value_is_told_beside_its_control(
    shop: Seen, asked: dict[str, str], heading: str, told: str
) -> None:
    page = shop.page(f"/forms/{QUIZ}", range="7d", **asked)
    with in_english(shop):
        check_all(page, Expected(shop, QUIZ, 7))
    assert page.count('class="error"') == 1
    assert told in " ".join(sections(page)[heading].others)


def test_a_form_of_another_shop_is_none(shop: Seen, seen: Seen) -> None:
    html = {"Accept": "text/html"}
    assert shop.browser.get(f"/forms/{form_ids(seen)[0]}", headers=html).status_code == 404
    assert seen.browser.get(f"/forms/{QUIZ}", headers=html).status_code == 404


def test_very_many_answers(tmp_path: Path) -> None:
    """More than the API gives: the page shows the first, says so, and stays light."""
    url, day = f"sqlite:///{tmp_path / 'warehouse.db'}", datetime.now(UTC) - timedelta(days=1)
    product = Product(url)
    product.load("shops", [{"shop_id": "quiz.example", "currency": "EUR"}])
    product.load("forms", [{"form_id": QUIZ, "shop_id": "quiz.example", "name": "Quiz"}])
    moments = ({"type": "view"}, {"type": "complete"})
    product.load(
        "events",
        [
            event
            for number in range(1_100)
            for event in session(
                number,
                day,
                "x",
                *moments,
                answer("city", f"city {number}"),
                answer("street", f"street {number}"),
                *(step(place) for place in range(120 if number == 0 else 0)),
            )
        ],
    )
    product.rollup()
    engine, app = open_engine(url), create_app(url)
    browser = Browser(app.test_client())
    add_member(engine, known_shop(engine, "quiz.example"))
    browser.sign_in()
    shop = Seen(browser, product, World(0, NOW, {}, {}), "quiz.example")
    page = shop.page(f"/forms/{QUIZ}", range="7d")
    assert len(page.encode()) < MAX_BYTES
    with in_english(shop):
        expected = Expected(shop, QUIZ, 7)
        check_answers(page, expected)
        section = check_crossed(page, expected, "city", "street")
    assert section.tables[0][0][2] == "— (one of too many pairs)"
    assert len(sections(page)["Steps"].tables[0]) == MOST_ROWS
    close_app(app)
    engine.dispose()
    product.close()
