"""Attribution of all the shop's orders: total (14) and daily (15), on the order clock."""

from collections.abc import Iterable, Mapping
from typing import Final

from warehouse.vocabulary import ATTRIBUTION_TYPES
from web.endpoint import Endpoint
from web.endpoint import blueprint as resource
from web.figures import money
from web.questions import Question
from web.rounding import cents, percent
from web.shapes.shop import AttributionRow, DailyAttributionRow

_NOTHING: Final = {"orders": 0, "gross": 0, "refunded": 0}


def attribution(question: Question) -> list[AttributionRow]:
    """The shop's revenue by how it is credited.

    Four rows in the order of precedence; they add up to the shop.
    """
    return _rows(question.sums("attribution", by=("type",)).rows())


def attribution_daily(question: Question) -> list[DailyAttributionRow]:
    """The shop's revenue by how it is credited, day by day.

    The same four rows for every day of the range.
    """
    by_day: dict[int, list[dict[str, int]]] = {}
    for line in question.sums("attribution", by=("day", "type")).rows():
        by_day.setdefault(line["day"], []).append(line)
    return [
        {"date": date, **row}
        for day, date in question.window.dates()
        for row in _rows(by_day.get(day, ()))
    ]


def _rows(lines: Iterable[Mapping[str, int]]) -> list[AttributionRow]:
    by_type = {line["type"]: line for line in lines}
    all_net = sum(line["gross"] - line["refunded"] for line in by_type.values())
    rows: list[AttributionRow] = []
    for place, name in enumerate(ATTRIBUTION_TYPES):
        revenue = money(by_type.get(place, _NOTHING))
        rows.append(
            {
                "attributionType": name,
                **revenue,
                "averageOrderValueCents": cents(revenue["grossRevenueCents"], revenue["orders"]),
                "shareOfRevenue": percent(revenue["netRevenueCents"], all_net),
            }
        )
    return rows


blueprint = resource(
    "attribution",
    Endpoint("GET", "/attribution", "analytics:read", attribution),
    Endpoint("GET", "/attribution/daily", "analytics:read", attribution_daily),
)
