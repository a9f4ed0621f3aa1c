"""`/`: the shop at a glance."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from web.api.rounding import percent
from web.dashboard.ads import REASONS
from web.dashboard.comparison import Amount, Rate
from web.dashboard.page import View
from web.dashboard.revenue import days_of
from web.dashboard.shop_forms import FormLine, active_forms, form_line

# Forms and campaigns at a glance; their own pages have all.
_FORMS: Final = 8
_CAMPAIGNS: Final = 6
# Below, ads bring submissions whose campaign is not known.
_LOW_COVERAGE: Final = 80

Rows = list[dict[str, Any]]


def overview(view: View) -> str:
    revenue = view.data("/attribution")
    forms = active_forms(view)
    lines = [form_line(view, *form) for form in forms[:_FORMS]]
    campaigns = view.data("/revenue/by-utm", dimension="campaign")["rows"]
    ads = view.data("/ads/spend")
    return view.render(
        "overview.html",
        cards=_cards(view, revenue, campaigns),
        credited_share=percent(
            _sum(_credited(revenue), "netRevenueCents"), _sum(revenue, "netRevenueCents")
        ),
        ads=_ads(ads["rows"]),
        **days_of(view),
        forms=lines,
        more_forms=len(forms) - len(lines),
        campaigns=[row for row in campaigns if row["netRevenueCents"]][:_CAMPAIGNS],
        notes=_notes(ads, lines),
        is_empty=not any(line.figures["views"] for line in lines) and not _orders(revenue),
    )


def _cards(view: View, revenue: Rows, campaigns: Rows) -> dict[str, Amount | Rate]:
    """The figures at the top, each with the one before. Submissions and conversion are on the submission
    clock, revenue and orders on the order clock."""
    old_revenue = view.before("/attribution")
    by_utm = view.before("/revenue/by-utm", dimension="campaign")
    old_campaigns = by_utm["rows"] if by_utm else None

    def amount(name: str, now: Rows, before: Rows | None) -> Amount:
        return Amount(_sum(now, name), None if before is None else _sum(before, name))

    submissions = amount("submissionCount", campaigns, old_campaigns)
    converted = amount("convertedSubmissions", campaigns, old_campaigns)
    return {
        "net": amount("netRevenueCents", revenue, old_revenue),
        "credited": amount(
            "netRevenueCents", _credited(revenue), old_revenue and _credited(old_revenue)
        ),
        "orders": amount("orders", revenue, old_revenue),
        "submissions": submissions,
        "conversion": Rate(converted.now, submissions.now, converted.before, submissions.before),
    }


def _ads(rows: Rows) -> list[dict[str, Any]]:
    """Spend by currency, most first, and the credited net revenue of its campaigns in minor units of the
    shop's currency."""
    spend: dict[str, float] = defaultdict(float)
    net: dict[str, int] = defaultdict(int)
    for row in rows:
        if row["spend"]:
            spend[row["currency"]] += row["spend"]
            net[row["currency"]] += row["attributedNetRevenueCents"]
    return [
        {"currency": name, "spend": amount, "net": net[name]}
        for name, amount in sorted(spend.items(), key=lambda item: -item[1])
    ]


def _notes(ads: dict[str, Any], lines: Sequence[FormLine]) -> list[tuple[str, str]]:
    """Worth a look: (what, why)."""
    notes = [
        (f"Ad spend of {entry['provider']} is incomplete", REASONS[entry["reason"]])
        for entry in ads["unavailableProviders"]
    ]
    notes += [
        (
            f"Only {entry['coverage']:.0f} % of the submissions from {entry['provider']} name a campaign",
            "The others cannot be set against its spend. Check the UTM values of its links.",
        )
        for entry in _low_coverage(ads)
    ]
    for line in lines:
        rate = line.submission_rate
        if rate.change is not None and rate.change < 0 and not rate.is_chance:
            notes.append(
                (
                    f"“{line.name}” is submitted less often: {rate.change:+.1f} points",
                    "Chance alone does not explain it.",
                )
            )
    return notes


def _low_coverage(ads: dict[str, Any]) -> Rows:
    return [
        {"provider": provider, "coverage": coverage}
        for provider, coverage in ads["attributionCoverage"].items()
        if coverage is not None and coverage < _LOW_COVERAGE
    ]


def _credited(rows: Rows) -> Rows:
    return [row for row in rows if row["attributionType"] != "unattributed"]


def _orders(rows: Rows) -> int:
    return _sum(rows, "orders")


def _sum(rows: Rows, name: str) -> int:
    return sum(row[name] for row in rows)
