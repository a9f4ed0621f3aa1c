"""The campaigns of a shop by UTM, each beside its figures of the days before."""

from dataclasses import dataclass
from typing import Any, Final

from web.api.row_limit import OTHER
from web.dashboard.comparison import Amount, Rate
from web.dashboard.page import View

Rows = list[dict[str, Any]]

_PATH: Final = "/revenue/by-utm"
_DIMENSION: Final = {"dimension": "campaign"}


@dataclass(frozen=True)
class CampaignLine:
    """Submissions and how many of them bought are on the submission clock; orders and net revenue, in minor
    units, are those credited on the order clock. "" stands for no source or no campaign."""

    source: str
    name: str
    submissions: Amount
    bought: Rate
    orders: Amount
    net: Amount


def campaign_rows(view: View) -> tuple[Rows, Rows | None]:
    """The API's rows of these days and of those before, None where nothing is compared."""
    before = view.before(_PATH, **_DIMENSION)
    return view.data(_PATH, **_DIMENSION)["rows"], before and before["rows"]


def campaigns(rows: Rows, before: Rows | None) -> list[CampaignLine]:
    """Each row beside its former one, in the order of the rows: most net revenue first."""
    former = {_key(row): row for row in before or []}
    # A campaign that is not among the former rows can be in their sum of others.
    missing = None if before is None or (OTHER, OTHER) in former else 0

    def compared(row: dict[str, Any]) -> CampaignLine:
        def amount(name: str) -> Amount:
            known = former.get(_key(row))
            return Amount(row[name], known[name] if known else missing)

        submissions, converted = amount("submissionCount"), amount("convertedSubmissions")
        return CampaignLine(
            source=row["utmSource"],
            name=row["utmCampaign"],
            submissions=submissions,
            bought=Rate(converted.now, submissions.now, converted.before, submissions.before),
            orders=amount("attributedOrders"),
            net=amount("netRevenueCents"),
        )

    return [compared(row) for row in rows]


def _key(row: dict[str, Any]) -> tuple[str, str]:
    return row["utmSource"], row["utmCampaign"]
