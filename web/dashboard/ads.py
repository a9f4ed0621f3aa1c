"""`/ads`: ad spend beside the revenue that is credited to its campaigns."""

from typing import Any, Final

from web.dashboard.page import View

# The advice about a provider whose figures are not complete.
REASONS: Final = {
    "sync_failed": "The last pull of its spend failed. Check its access, then pull again.",
    "stale": "Its spend was last pulled before the end of these days. Pull again.",
    "no_exchange_rate": "A day of its orders has no exchange rate. Import the rates of that day.",
}


def ads(view: View) -> str:
    data = view.data("/ads/spend")
    return view.render(
        "ads.html",
        providers=_providers(data["rows"]),
        rows=[row for row in data["rows"] if row["provider"]],
        unattributed=[row for row in data["rows"] if not row["provider"]],
        coverage=sorted(data["attributionCoverage"].items()),
        unavailable=[
            {**entry, "what_to_do": REASONS[entry["reason"]]}
            for entry in data["unavailableProviders"]
        ],
    )


def _providers(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Spend and credited net revenue by provider and currency, most spend first."""
    sums: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        if row["provider"]:
            key = row["provider"], row["currency"]
            into = sums.setdefault(
                key, {"provider": key[0], "currency": key[1], "spend": 0.0, "net": 0, "orders": 0}
            )
            into["spend"] += row["spend"]
            into["net"] += row["attributedNetRevenueCents"]
            into["orders"] += row["attributedOrders"]
    return sorted(sums.values(), key=lambda line: -line["spend"])
