"""The number that the API has for each figure of a page."""

from datetime import date, timedelta
from typing import Any

from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.page_figures import Figure
from warehouse.domain.rounding import cents, percent
from web.api.filters import NAMES

# The answer behind a table: its path, parameters, and the names of its keys by the attribute of a line.
TABLES: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "forms": ("/revenue/by-form", {"clock": ""}, {"form": "formId"}),
    "parts": ("/attribution", {}, {"row": "attributionType"}),
    "campaigns": (
        "/revenue/by-utm",
        {"dimension": "campaign"},
        {"source": "utmSource", "row": "utmCampaign"},
    ),
    "codes": ("/discounts/performance", {}, {"row": "discountId"}),
    "steps": ("/forms/{id}/steps/dropoff", {}, {"row": "stepId"}),
    "devices": ("/forms/{id}/devices", {}, {"row": "deviceType"}),
    "visitors": ("/forms/{id}/visitor-conversion", {}, {"row": "visitorType"}),
    "times": ("/forms/{id}/time-to-complete", {}, {"row": "deviceType"}),
    "answers": ("/forms/{id}/response-revenue", {}, {"field": "fieldId", "row": "value"}),
    "days": ("/forms/{id}/trends", {"clock": ""}, {"row": "date"}),
    "delays": ("/forms/{id}/time-to-order", {}, {"row": "days"}),
    "segment": ("/customers/ltv", {"dimension": "segment"}, {"field": "fieldId", "row": "value"}),
    "form": ("/customers/ltv", {"dimension": "form"}, {"form": "formId"}),
}
ADS = {
    "campaigns": {"provider": "provider", "currency": "currency", "row": "campaignId"},
    "providers": {"provider": "provider", "currency": "currency"},
}
CARDS = {
    ("Overview", "Net revenue"): "parts",
    ("Not filtered: the whole shop", "Net revenue"): "parts",
    ("Overview", "Credited to forms"): "forms",
    ("Overview", "Submissions"): "forms",
    ("Overview", "Sign-ups that bought"): "forms",
    ("Discounts", "Issued"): "codes",
    ("Discounts", "Used"): "codes",
    ("Discounts", "Cost"): "codes",
    ("Discounts", "Net revenue"): "codes",
    ("From view to order", "Submitted"): "days",
    ("From view to order", "Sign-ups that bought"): "days",
    ("From view to order", "Net revenue"): "days",
}
QUOTIENTS = {
    "submissionRate": ("submissions", "views"),
    "conversionRate": ("convertedSubmissions", "submissions"),
    "revenuePerSubmissionCents": ("netRevenueCents", "submissions"),
    "averageOrderValueCents": ("grossRevenueCents", "orders"),
}


# A page has hundreds of figures of few answers.
_ANSWERS: dict[tuple[Any, ...], Any] = {}


class Source:
    """The number that the API has for a figure of a page, over any days; None where it has none: at equal
    age it answers for one form of the list alone."""

    def __init__(self, seen: Seen, path: str, figure: Figure, query: dict[str, str]) -> None:
        self.seen, self.path, self.figure = seen, path, figure
        self.clock = query.get("clock", "order")
        self.filters = {name: text for name, text in query.items() if name in NAMES}
        self.form = path.partition("/forms/")[2]
        self.table = figure.table or CARDS.get((figure.section, figure.card), "")

    def _api(self, path: str, **query: str) -> Any:
        if path.startswith("/forms/") or path == "/revenue/by-form":
            query |= self.filters
        key = self.seen.shop_id, path, tuple(query.items())
        if key not in _ANSWERS:
            _ANSWERS[key] = self.seen.api(path, **query)
        return _ANSWERS[key]

    def value(self, days: str, within: int | None) -> float | None:
        name, key = self.figure.name, self.figure.row.get("row", "")
        if within and not name.startswith("horizons."):
            form = self.form if self.table in ("days", "stages") else self.figure.row.get("form")
            if not form or self.table not in ("forms", "days"):
                return None
            if form not in {each["id"] for each in self._api("/forms", limit="200")}:
                return None  # Only events know it.
            funnel = self._api(f"/forms/{form}/funnel", range=days, within=f"{within}")
            return self._of([funnel], name)
        if not self.table or (self.table == "days" and not self.form):
            return None
        if self.path == "/ads" and self.table in ADS and key != "total":
            path, asked, keys = "/ads/spend", dict[str, str](), ADS[self.table]
        elif self.path == "/ads" or self.table not in TABLES:
            return None
        else:
            path, asked, keys = TABLES[self.table]
        # Per submission is always of those who submitted.
        clock = "submission" if name == "revenuePerSubmissionCents" else self.clock
        asked = {each: text or clock for each, text in asked.items()}
        data = self._api(path.replace("{id}", self.form), range=days, **asked)
        rows = data["rows"] if isinstance(data, dict) else data
        if self.table == "forms":
            rows = [row for row in rows if row["formId"]]
        if key == "earlier":
            return float(sum(row["fromEarlierSubmissions"][name] for row in rows))
        if key != "total" and not self.figure.card:
            values = self.figure.row
            rows = [
                row
                for row in rows
                if all(
                    f"{'' if row[at] is None else row[at]}" == values[mark]
                    for mark, at in keys.items()
                )
            ]
        if name.startswith("horizons."):
            return float(rows[0]["horizons"][0]["ltvCents"]) if rows else 0.0
        return self._of(rows, name)

    def _of(self, rows: list[dict[str, Any]], name: str) -> float | None:
        if len(rows) == 1 and name in rows[0]:
            return float(rows[0][name])
        if name in QUOTIENTS:
            above, below = (sum(row[part] for row in rows) for part in QUOTIENTS[name])
            divide = cents if name.endswith("Cents") else percent
            return float(divide(above, below)) if below else 0.0
        if all(isinstance(row[name], int) for row in rows):
            return float(sum(row[name] for row in rows))
        return None


def is_equal(name: str, one: float, other: float) -> bool:
    # Spend has fractions of a cent, or of a yen, which pages round.
    unit = 1 if one == int(one) else 0.01
    return abs(one - other) <= unit / 2 + 1e-9 if name == "spend" else one == other


def shown_days(seen: Seen, query: dict[str, str]) -> str:
    """The days of a range, as the API takes them."""
    today = date.fromisoformat(seen.api("/attribution/daily", range="7d")[-1]["date"])
    text = query["range"]
    if text == "today":
        return f"{today}..{today}"
    if text == "last-month":
        last = today.replace(day=1) - timedelta(1)
        return f"{last.replace(day=1)}..{last}"
    if text.endswith("-days"):
        # Those of pages end with the last whole day.
        return f"{today - timedelta(int(text[:-5]))}..{today - timedelta(1)}"
    return f"{today - timedelta(int(text[:-1]) - 1)}..{today}"
