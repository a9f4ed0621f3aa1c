"""Ad spend of all campaigns by currency, and what it brought back."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Spend:
    """`spend` is in major units of `currency`. `roas` is net revenue / spend of the campaigns with spend;
    None where it is not known."""

    currency: str
    spend: float
    roas: float | None


def spend_by_currency(data: dict[str, Any]) -> list[Spend]:
    """From an answer about ad spend, most spend first."""
    without_rate = {
        entry["provider"]
        for entry in data["unavailableProviders"]
        if entry["reason"] == "no_exchange_rate"
    }
    by_currency: dict[str, Rows] = {}
    for row in data["rows"]:
        if row["spend"]:
            by_currency.setdefault(row["currency"], []).append(row)
    found = [_spend(currency, rows, without_rate) for currency, rows in by_currency.items()]
    return sorted(found, key=lambda one: (-one.spend, one.currency))


def _spend(currency: str, rows: Iterable[dict[str, Any]], without_rate: set[str]) -> Spend:
    spend = brought = 0.0
    is_known = True
    for row in rows:
        spend += row["spend"]
        # A row's own return has its revenue in the currency of its spend.
        brought += row["roas"] * row["spend"]
        if row["provider"] in without_rate and row["attributedNetRevenueCents"] and not row["roas"]:
            is_known = False
    return Spend(currency, spend, brought / spend if is_known and spend > 0 else None)
