"""Rows of Google Ads' `search` and `searchStream` as ad spend. See `google_ads.md`."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final

from jobs.importing.formats.ad_segment import segment_of
from jobs.importing.formats.base import Format, Record, Records, Row, Sample, SourceField, Target
from jobs.importing.formats.report_files import report_records
from jobs.importing.values.errors import InvalidValue
from jobs.importing.values.money import of_millionths
from jobs.importing.values.texts import text

# Resources that split a row besides its segments: the place of the id, and its name in our segment.
_FINER: Final = {
    "adGroup.id": "adgroup",
    "adGroupAd.ad.id": "ad",
    "adGroupCriterion.criterionId": "criterion",
    "assetGroup.id": "assetgroup",
}
# Segments that follow from the day and split no row.
_OF_THE_DAY: Final = frozenset(
    ("date", "week", "month", "quarter", "year", "dayOfWeek", "monthOfYear")
)
_DIRECT: Final = {
    "campaign.id": "campaign_id",
    "campaign.name": "campaign_name",
    "segments.date": "date",
    "customer.currencyCode": "currency",
    "metrics.impressions": "impressions",
    "metrics.clicks": "clicks",
    "metrics.conversions": "reported_conversions",
    "metrics.conversionsValue": "reported_value",
}
# The member that tells an answer without rows from a row.
_MASK: Final = "fieldMask"
# The columns of a table, in the spelling of REST and of SQL.
_COLUMNS: Final = _DIRECT | {
    "customer.currency_code": "currency",
    "metrics.cost_micros": "spend",
    "metrics.costMicros": "spend",
}
_CUSTOMER: Final = re.compile(r"customers/(\d+)/")
# The depth of the members that are mapped.
_DEPTH: Final = 3
_HUMP: Final = re.compile(r"_+(.)")


class GoogleAds(Format):
    """Rows of one day each, of any resource that has a campaign, with any segments."""

    name = "google-ads"
    kind = "ad-spend"
    list_members = ("results",)
    source_fields: ClassVar = (
        SourceField("customer.id", "account_id"),
        SourceField("campaign.resourceName", "account_id"),
        *(SourceField(source, field) for source, field in _DIRECT.items()),
        SourceField("metrics.costMicros", "spend"),
        *(SourceField(source, "segment") for source in _FINER),
        SourceField("segments", "segment"),
    )

    def matches(self, sample: Sample) -> bool:
        rows = [_canonical(record) for record in sample.records]
        return any({"campaign", "segments", "metrics"} <= row.keys() for row in rows)

    def records(self, path: Path, dates: str = "") -> Iterator[Records]:
        for some in report_records(path, self.list_members, _COLUMNS, dates):
            some.numbered = [
                (line, _canonical(record)) for line, record in some.numbered if _MASK not in record
            ]
            yield some

    def row(self, record: Record, target: Target) -> Row:
        row = {field: _at(record, source) for source, field in _DIRECT.items()}
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
    """A row as REST writes it: `campaign.id` of a CSV header becomes a member of a member, and
    `cost_micros`, the spelling of SQL and other clients, becomes `costMicros`."""
    canonical: Record = {}
    for path, value in record.items():
        below = canonical
        *above, name = _parts(path)
        for part in above:
            inner = below.setdefault(part, {})
            below = inner if isinstance(inner, dict) else {}
        below[name] = _canonical(value, depth - 1) if depth and isinstance(value, dict) else value
    return canonical


@lru_cache(maxsize=1 << 10)
def _parts(path: str) -> tuple[str, ...]:
    return tuple(_HUMP.sub(lambda match: match[1].upper(), part) for part in path.split("."))


def _at(record: Record, path: str) -> Any:
    value: Any = record
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _spend(micros: Any) -> str | None:
    if micros is None or micros == "":
        return None
    try:
        return of_millionths(micros)
    except InvalidValue as cause:
        raise InvalidValue(f"metrics.costMicros: {cause}") from None


def _account(record: Record) -> str:
    """The customer's id, which is also part of every resource's name."""
    customer = _at(record, "customer.id")
    if customer not in (None, ""):
        return text(customer).replace("-", "")
    name = _at(record, "campaign.resourceName")
    match = _CUSTOMER.match(name) if isinstance(name, str) else None
    return match[1] if match else ""
