"""The answers on the page of one form, and two questions crossed, as they follow from the API's answers."""

from collections import Counter
from typing import Any

from tests.web.dashboard.form_page import FEW, Expected, Rows
from tests.web.dashboard.page_text import AGED, Row, Section
from web.dashboard import statistics
from web.dashboard.formatting import count, decimal, percent

# The most rows of a table of answers, and the most answers on a side of a heat map.
MOST_ROWS, SIDE = 100, 10


def answer_row(expected: Expected, row: Any) -> Row:
    return [
        "no answer" if row["value"] is None else row["value"],
        row["fieldId"],
        count(row["submissions"]),
        AGED,
        expected.money(row["netRevenueCents"]),
        AGED,
    ]


def check_answers(page: str, expected: Expected, rows: Rows | None = None) -> None:
    """The first rows in the order of the API, or of `rows`."""
    if rows is None:
        rows = expected.rows("response-revenue")
    table = [answer_row(expected, row) for row in rows[:MOST_ROWS]]
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
    clock = "Times as often as chance would have it. Few: less than 30 submissions, counted and expected."
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
