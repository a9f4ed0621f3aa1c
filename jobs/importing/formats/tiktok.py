"""Rows of TikTok's reporting API as ad spend. See `tiktok.md`."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Final

from jobs.importing.formats.ad_segment import segment_of
from jobs.importing.formats.base import Format, Record, Records, Row, Sample, SourceField, Target
from jobs.importing.formats.report_files import report_records

# Keys that split a row further, in the order in which they are written into the segment.
_FINER: Final = {
    "adgroup_id": "adgroup",
    "ad_id": "ad",
    **{
        name: name
        for name in (
            "ac",
            "age",
            "contextual_tag",
            "country_code",
            "device_brand_id",
            "dma_id",
            "gender",
            "interest_category",
            "language",
            "placement",
            "platform",
            "province_id",
        )
    },
}
_DIRECT: Final = {
    "advertiser_id": "account_id",
    "campaign_id": "campaign_id",
    "campaign_name": "campaign_name",
    "currency": "currency",
    "spend": "spend",
    "impressions": "impressions",
    "clicks": "clicks",
    "conversion": "reported_conversions",
    "total_complete_payment_rate": "reported_value",
}
_DAY: Final = "stat_time_day"
_MIDNIGHT: Final = " 00:00:00"
# TikTok writes these for a missing value.
_NO_VALUE: Final = (None, "", "-")
_OF_ADVERTISER: Final = {"advertiser_id", "currency"}
_GROUPS: Final = ("metrics", "dimensions")


class TikTok(Format):
    """Rows of one day each, by campaign, ad group or ad, with any dimensions of an audience report."""

    name = "tiktok"
    kind = "ad-spend"
    list_members = ("data", "list")
    source_fields: ClassVar = (
        *(SourceField(source, field) for source, field in _DIRECT.items()),
        SourceField(_DAY, "date"),
        *(SourceField(source, "segment") for source in _FINER),
    )

    def matches(self, sample: Sample) -> bool:
        return any(_DAY in _flat(record) for record in sample.records)

    def records(self, path: Path, dates: str = "") -> Iterator[Records]:
        """The records of reports. Those without an advertiser or a currency take it from the record of
        the advertiser that comes before them."""
        advertisers: dict[str, Record] = {}
        last: Record = {}
        columns = dict(self.source_fields)
        for some in report_records(path, self.list_members, columns, dates):
            rows = []
            for line, nested in some.numbered:
                record = _flat(nested)
                if "spend" not in record and record.keys() >= _OF_ADVERTISER:
                    last = {name: record[name] for name in _OF_ADVERTISER}
                    advertisers[str(last["advertiser_id"])] = last
                else:
                    owner = record.get("advertiser_id")
                    advertiser = last if owner is None else advertisers.get(str(owner), {})
                    rows.append((line, advertiser | record))
            yield Records(rows, some.broken, some.position)

    def row(self, record: Record, target: Target) -> Row:
        row = {field: record.get(source) for source, field in _DIRECT.items()}
        day = record.get(_DAY)
        if isinstance(day, str):
            day = day.removesuffix(_MIDNIGHT)
        return row | {
            "provider": "tiktok",
            "date": day,
            "segment": segment_of((name, record.get(source)) for source, name in _FINER.items()),
        }


def _flat(record: Record) -> Record:
    """A record with its dimensions and metrics at the top, without missing values."""
    flat = {name: value for name, value in record.items() if name not in _GROUPS}
    for name in _GROUPS:
        if isinstance(record.get(name), dict):
            flat |= record[name]
    return {name: value for name, value in flat.items() if value not in _NO_VALUE}
