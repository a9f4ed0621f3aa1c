"""Attribution of all the shop's orders: total (14) and daily (15), on the order clock."""

from collections.abc import Iterable, Mapping

from warehouse.domain.vocabulary import ATTRIBUTION_TYPES
from web.api.endpoint import Endpoint
from web.api.endpoint import blueprint as resource
from web.api.figures import figures, zeros
from web.api.query import Query
from web.api.rounding import percent
from web.api.schemas.shop import AttributionFigures, AttributionRow, DailyAttributionRow


def attribution(query: Query) -> list[AttributionRow]:
    """The shop's revenue by attribution type.

    Four rows in the order of precedence. They add up to the shop.
    """
    return _rows(query.sums("attribution", by=("type",)).rows())


def attribution_daily(query: Query) -> list[DailyAttributionRow]:
    """The shop's revenue by attribution type, day by day.

    The same four rows for every day of the window.
    """
    by_day: dict[int, list[dict[str, int]]] = {}
    for line in query.sums("attribution", by=("day", "type")).rows():
        by_day.setdefault(line["day"], []).append(line)
    return [
        {"date": date, **row}
        for day, date in query.window.dates()
        for row in _rows(by_day.get(day, ()))
    ]


def _rows(lines: Iterable[Mapping[str, int]]) -> list[AttributionRow]:
    by_type = {line["type"]: line for line in lines}
    all_net = sum(line["gross"] - line["refunded"] for line in by_type.values())
    rows: list[AttributionRow] = []
    for index, name in enumerate(ATTRIBUTION_TYPES):
        revenue = figures(AttributionFigures, by_type.get(index) or zeros("attribution"))
        rows.append(
            {
                "attributionType": name,
                **revenue,
                "shareOfRevenue": percent(revenue["netRevenueCents"], all_net),
            }
        )
    return rows


blueprint = resource(
    "attribution",
    Endpoint("GET", "/attribution", "analytics:read", attribution),
    Endpoint("GET", "/attribution/daily", "analytics:read", attribution_daily),
)
