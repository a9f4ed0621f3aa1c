"""Which figures of an answer add up over days, so that a range is the sum of its parts."""

from dataclasses import dataclass
from typing import Any

MONEY = ("orders", "grossRevenueCents", "totalRefundedCents", "netRevenueCents")
MILESTONES = ("views", "starts", "subscriptions", "completions", "submissions")
FIGURES = (*MILESTONES, "convertedSubmissions", *MONEY)

Sums = dict[tuple[Any, ...], dict[str, float]]


@dataclass(frozen=True)
class Additive:
    """The columns that name a row, and those that add up."""

    keys: tuple[str, ...]
    figures: tuple[str, ...]


ADDITIVE = {
    "/v1/forms/funnel": Additive(("formId",), ("views", "subscriptions", "completions")),
    "funnel": Additive((), FIGURES),
    "steps/dropoff": Additive(("stepId",), ("views", "completions", "dropoffs")),
    "time-to-complete": Additive(("deviceType",), ("completions",)),
    "devices": Additive(("deviceType",), FIGURES),
    "trends": Additive(("date",), FIGURES),
    "time-to-order": Additive(("days",), ("submissions", "convertedSubmissions", *MONEY)),
    "/v1/revenue/by-form": Additive(
        ("formId",), ("views", "submissions", "convertedSubmissions", *MONEY)
    ),
    "cross-field": Additive(("valueA", "valueB"), ("count", "convertedSubmissions")),
    "/v1/attribution": Additive(("attributionType",), MONEY),
    "/v1/attribution/daily": Additive(("date", "attributionType"), MONEY),
    "/v1/revenue/new-returning": Additive(("customerType",), MONEY),
    "/v1/revenue/new-returning/daily": Additive(("date", "customerType"), MONEY),
    "/v1/discounts/performance": Additive(
        ("discountId",), ("issued", "attributedOrders", "discountCents", *MONEY)
    ),
    "campaign": Additive(
        ("utmSource", "utmCampaign"),
        ("submissionCount", "convertedSubmissions", "attributedOrders", *MONEY[1:]),
    ),
    "attribution": Additive(("attributionType", "utmSource", "utmCampaign"), MONEY),
    "hierarchy": Additive(
        ("utmSource", "utmCampaign", "utmMedium", "utmTerm", "utmContent"), MONEY
    ),
    # Not by currency: which currency's row carries the orders follows the spend of the range.
    "/v1/ads/spend": Additive(
        ("provider", "campaignId"),
        ("attributedSubmissions", "attributedOrders", "attributedNetRevenueCents", "impressions"),
    ),
    "form": Additive(("formId",), ("customers", "purchasers", *MONEY)),
    "segment": Additive(("fieldId", "value"), ("customers", "purchasers", *MONEY)),
}
"""By path, by what follows `/v1/forms/{id}/`, or by dimension. Distinct visitors do not add up, nor
does the `null` row of response revenue, which exists only where the field was answered."""


def additive(path: str, query: dict[str, str]) -> Additive | None:
    name = path.removeprefix("/v1/forms/").partition("/")[2]
    found = ADDITIVE.get(path) or ADDITIVE.get(query.get("dimension", ""))
    return found or (ADDITIVE.get(name) if path.startswith("/v1/forms/") else None)


def summed(what: Additive, *answers: Any) -> Sums:
    """The additive figures of the rows of some answers, added by their keys, without zeros."""
    sums: Sums = {}
    for data in answers:
        for row in rows_of(data):
            total = sums.setdefault(tuple(row[key] for key in what.keys), {})
            for figure in what.figures:
                total[figure] = total.get(figure, 0) + row[figure]
    return {key: total for key, total in sums.items() if any(total.values())}


def rows_of(data: Any) -> list[dict[str, Any]]:
    """The rows of an answer, whatever it wraps them in; an answer that is one row, as a list."""
    if isinstance(data, dict):
        return list(data.get("rows", [data]))
    return list(data)
