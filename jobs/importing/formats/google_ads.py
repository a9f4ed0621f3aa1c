"""Rows of Google Ads' `search` and `searchStream` as ad spend. See `google_ads.md`."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final

from jobs.importing.cells import Malformed, text
from jobs.importing.formats.finer import segment_of
from jobs.importing.formats.format import Format, Row, Taken, Target
from jobs.importing.formats.records import Record, Records, Sample
from jobs.importing.formats.tables import report_records
from jobs.importing.money import of_millionths

# What splits a row further besides its segments: the place of its id, and its name in our segment.
_FINER: Final = {
    "adGroup.id": "adgroup",
    "adGroupAd.ad.id": "ad",
    "adGroupCriterion.criterionId": "criterion",
    "assetGroup.id": "assetgroup",
}
# Segments that follow from the day, and split nothing.
_OF_THE_DAY: Final = frozenset(
    ("date", "week", "month", "quarter", "year", "dayOfWeek", "monthOfYear")
)
_PLAIN: Final = {
    "campaign.id": "campaign_id",
    "campaign.name": "campaign_name",
    "segments.date": "date",
    "customer.currencyCode": "currency",
    "metrics.impressions": "impressions",
    "metrics.clicks": "clicks",
}
# What an answer has that no row has: one without rows is no row either.
_MASK: Final = "fieldMask"
# Of a table's header, some column has to be one of these.
_COLUMNS: Final = ("campaign.id", "segments.date", "metrics.cost_micros")
_CUSTOMER: Final = re.compile(r"customers/(\d+)/")
# How deep a row's members go that are looked at.
_DEPTH: Final = 3
_HUMP: Final = re.compile(r"_+(.)")


class GoogleAds(Format):
    """Rows of one day each, of any resource that has a campaign, with any segments."""

    name = "google-ads"
    kind = "ad-spend"
    within = ("results",)
    takes: ClassVar = (
        Taken("customer.id", "account_id"),
        Taken("campaign.resourceName", "account_id"),
        *(Taken(source, field) for source, field in _PLAIN.items()),
        Taken("metrics.costMicros", "spend"),
        *(Taken(source, "segment") for source in _FINER),
        Taken("segments", "segment"),
    )

    def seems(self, sample: Sample) -> bool:
        rows = [_canonical(record) for record in sample.records]
        return any({"campaign", "segments", "metrics"} <= row.keys() for row in rows)

    def records(self, path: Path) -> Iterator[Records]:
        for some in report_records(path, self.within, _COLUMNS):
            some.found = [
                (line, _canonical(record)) for line, record in some.found if _MASK not in record
            ]
            yield some

    def row(self, record: Record, target: Target) -> Row:
        row = {field: _at(record, source) for source, field in _PLAIN.items()}
        segments = record.get("segments")
        others = sorted(segments.items()) if isinstance(segments, dict) else ()
        return row | {
            "provider": "google",
            "account_id": _account(record),
            "spend": _spend(_at(record, "metrics.costMicros")),
            "segment": segment_of(
                [(name, _at(record, source)) for source, name in _FINER.items()]
                + [(name, value) for name, value in others if name not in _OF_THE_DAY]
            ),
        }


def _canonical(record: Record, depth: int = _DEPTH) -> Record:
    """A row as REST gives it: `campaign.id` of a CSV header is the member of a member, and
    `cost_micros`, as SQL and other clients call it, is `costMicros`."""
    found: Record = {}
    for path, value in record.items():
        below = found
        *above, name = _parts(path)
        for part in above:
            inner = below.setdefault(part, {})
            below = inner if isinstance(inner, dict) else {}
        below[name] = _canonical(value, depth - 1) if depth and isinstance(value, dict) else value
    return found


@lru_cache(maxsize=1 << 10)
def _parts(path: str) -> tuple[str, ...]:
    return tuple(_HUMP.sub(lambda hump: hump[1].upper(), part) for part in path.split("."))


def _at(record: Record, place: str) -> Any:
    found: Any = record
    for name in place.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _spend(micros: Any) -> str | None:
    if micros is None or micros == "":
        return None
    try:
        return of_millionths(micros)
    except Malformed as cause:
        raise Malformed(f"metrics.costMicros: {cause}") from None


def _account(record: Record) -> str:
    """The customer's id, which every resource has in its name, too."""
    customer = _at(record, "customer.id")
    if customer not in (None, ""):
        return text(customer).replace("-", "")
    name = _at(record, "campaign.resourceName")
    found = _CUSTOMER.match(name) if isinstance(name, str) else None
    return found[1] if found else ""
