"""The page `/ads` as it follows from the API's answers, section by section."""

from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from zoneinfo import ZoneInfo

from tests.web.dashboard.page_text import Row, sections
from tests.web.dashboard.written import (
    money,
    nothing,
    with_digit,
)
from warehouse.domain.vocabulary import minor_units
from web.dashboard import formatting
from web.dashboard.ads import REASONS

Data = dict[str, Any]
Rows = list[Data]
NO_SPEND = nothing("no spend in these days")
NAMES = ("provider", "campaignId", "currency")


def check(page: str, now: Data, currency: str, timezone: str = "UTC") -> None:
    """State the whole page without a comparison, from the answers for its days."""
    found, home = sections(page), currency
    rows = campaigns(now)
    if rows:
        found["Ads"].check(cards=cards(rows, home))
        providers = grouped(rows, ("currency", "provider"), home)
        sums = sum_rows(now, home)
        providers = grouped(rows, ("currency", "provider"), home)
        sums = sum_rows(now, home)
        each = grouped(rows, NAMES, home)
        # The shop's currency first, then by spend.
        by_spend = sorted(
            each,
            key=lambda group: (
                group[0]["spend"] != 0,
                group[0]["currency"] == home,
                group[0]["currency"],
                group[0]["spend"],
            ),
            reverse=True,
        )
        texts = []
        if len(rows) > 100:
            texts.append(f"The first 100 of {formatting.count(len(rows))} rows; the CSV has all.")
        found["Campaigns"].check(
            [
                [
                    group[0]["campaignName"] or group[0]["campaignId"],
                    group[0]["provider"],
                    *result_cells(group, home),
                ]
                for group in by_spend[:100]
            ]
            + sums,
            [[group[0]["provider"], *result_cells(group, home)] for group in providers] + sums,
            others=texts,
        )
    else:
        found["Ads"].check()
        assert "No campaigns in these days" in found
    check_coverage(found, now)
    pulls = [
        f": {REASONS[entry['reason']]} {pulled(entry['lastSyncedAt'], timezone)}"
        for entry in now["unavailableProviders"]
    ]
    if pulls:
        found["Incomplete"].check(others=with_digit(pulls))
    else:
        assert "Incomplete" not in found


def pulled(text: str | None, timezone: str) -> str:
    if text is None:
        return "No pull of its spend is known."
    local = datetime.fromisoformat(text).astimezone(ZoneInfo(timezone))
    return " ".join(f"Last pulled: {formatting.instant(local)}.".split())


def check_coverage(found: dict[str, Any], now: Data) -> None:
    if not now["attributionCoverage"]:
        assert "Links with a campaign" not in found
        return
    texts = []
    for provider, value in now["attributionCoverage"].items():
        texts.append(provider)
        if value is None:
            continue
        texts.append(formatting.percent(value))
    found["Links with a campaign"].check(
        others=with_digit(
            [
                *texts,
                "the share of sign-ups that name one; below 80%, a provider’s return looks too low",
            ]
        )
    )


def campaigns(data: Data) -> Rows:
    return [row for row in data["rows"] if row["provider"]]


def grouped(rows: Rows, names: tuple[str, ...], home: str) -> list[Rows]:
    """Rows with the same values, in the order of the charts: the shop's currency first, most spend first."""
    groups: dict[tuple[str, ...], Rows] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return sorted(
        groups.values(),
        key=lambda group: (
            group[0]["currency"] != home,
            group[0]["currency"],
            -spend_of(group),
        ),
    )


def total(rows: Rows, name: str) -> Any:
    return sum(row[name] for row in rows)


def minor(rows: Rows) -> int:
    return int(half_up(spend_of(rows) * minor_units(rows[0]["currency"]), "1"))


def spend_of(rows: Rows) -> Decimal:
    return sum((Decimal(str(row["spend"])) for row in rows), Decimal(0))


def half_up(value: Decimal, step: str) -> Decimal:
    return value.quantize(Decimal(step), ROUND_HALF_UP)


def return_of(rows: Rows) -> float | None:
    """The return of rows in one currency, by the API's returns: None where one of them is missing."""
    spend = float(spend_of(rows))
    if spend <= 0:
        return None
    is_alike = rows[0]["currency"] == rows[0]["revenueCurrency"]
    if len(rows) == 1 and (is_alike or rows[0]["roas"] or not rows[0]["attributedNetRevenueCents"]):
        # As the API has rounded it.
        return float(rows[0]["roas"])
    if is_alike:
        units = minor_units(rows[0]["currency"])
        return float(total(rows, "attributedNetRevenueCents") / (spend * units))
    if any(row["attributedNetRevenueCents"] and not row["roas"] for row in rows):
        return None
    return float(sum(row["roas"] * row["spend"] for row in rows) / spend)


def return_text(rows: Rows) -> str:
    value = return_of(rows)
    if value is None:
        spent = total(rows, "spend") > 0
        home = rows[0]["revenueCurrency"]
        return nothing(f"revenue in {home} is not converted") if spent else NO_SPEND
    return " ".join(formatting.times(float(round(value, 4))).split())


def result_cells(rows: Rows, home: str) -> list[str]:
    currency, net = rows[0]["currency"], total(rows, "attributedNetRevenueCents")

    def cost(count: int, noun: str) -> str:
        spend = spend_of(rows)
        if spend <= 0:
            return NO_SPEND
        if not count:
            return nothing(f"no {noun}")
        return formatting.amount(float(half_up(spend / count, ".01")), currency)

    def submissions_and_orders(name: str, noun: str) -> list[str]:
        count = total(rows, name)
        return [formatting.count(count), cost(count, noun)]

    spend = money(currency, exact=True)(minor(rows)) if total(rows, "spend") else NO_SPEND
    return [
        spend,
        *submissions_and_orders("attributedSubmissions", "submissions"),
        *submissions_and_orders("attributedOrders", "orders"),
        money(home, exact=True)(net),
        return_text(rows),
    ]


def sum_rows(now: Data, home: str) -> list[Row]:
    rows = campaigns(now)
    exact = money(home, exact=True)
    lines = [
        [
            f"All with spend in {group[0]['currency']}",
            *result_cells(group, home),
        ]
        for group in grouped(rows, ("currency",), home)
    ]
    lines += [
        [
            "Orders from no ad campaign",
            formatting.count(row["attributedOrders"]),
            "",
            exact(row["attributedNetRevenueCents"]),
            "",
        ]
        for row in now["rows"]
        if not row["provider"]
    ]
    orders, net = (
        total(now["rows"], name) for name in ("attributedOrders", "attributedNetRevenueCents")
    )
    return [*lines, ["All orders of the shop", formatting.count(orders), "", exact(net), ""]]


def cards(rows: Rows, home: str) -> dict[str, list[str]]:
    """Those of the shop's currency, which name it where there are other ones: these open."""
    group, *others = grouped(rows, ("currency",), home)
    currency = group[0]["currency"]
    write = money(group[0]["currency"])
    some = bool(total(group, "spend"))
    return {
        f"Spend · in {currency}" if others else "Spend": [write(minor(group))]
        if some
        else ["$0.00"],
        "Revenue credited to ads": [money(home)(total(rows, "attributedNetRevenueCents"))],
        "Orders credited to ads": [formatting.count(total(rows, "attributedOrders"))],
        f"Return · per {currency}" if others else "Return": return_text(group)
        .replace(" (", "\n(")
        .split("\n"),
    }
