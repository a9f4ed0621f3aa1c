"""Figures that several endpoints share, from one line of sums: their names and their order."""

from collections.abc import Mapping
from typing import Any

from web.rounding import percent
from web.shapes.figures import FormFigures, FormRates, Money


def money(sums: Mapping[str, int]) -> Money:
    """`orders` and the revenue of orders, in minor units of the shop's currency."""
    return {
        "orders": sums["orders"],
        "grossRevenueCents": sums["gross"],
        "totalRefundedCents": sums["refunded"],
        "netRevenueCents": sums["gross"] - sums["refunded"],
    }


def form_figures(sums: Mapping[str, int]) -> FormFigures:
    """Milestones and the outcome of submissions."""
    return {
        "views": sums["views"],
        "starts": sums["starts"],
        "subscriptions": sums["subscriptions"],
        "completions": sums["completions"],
        "submissions": sums["submissions"],
        "convertedSubmissions": sums["converted"],
        **money(sums),
    }


def form_rates(sums: Mapping[str, int]) -> FormRates:
    return {
        "submissionRate": percent(sums["submissions"], sums["views"]),
        "conversionRate": percent(sums["converted"], sums["submissions"]),
    }


def any_figure(sums: Mapping[str, Any], *keys: str) -> bool:
    """Whether a line says anything: it may be all zeros once what it counted has moved away.
    `keys` are the columns that are no figures."""
    return any(value for name, value in sums.items() if name not in keys)
