"""Rows of Meta's Insights as ad spend. See `meta.md`."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Final

from jobs.importing.cells import Malformed, text
from jobs.importing.formats.finer import segment_of
from jobs.importing.formats.format import Format, Row, Taken, Target
from jobs.importing.formats.records import Record, Records, Sample
from jobs.importing.formats.tables import report_records

# Keys that split a row further, in the order in which they are written into the segment.
_LEVELS: Final = {"adset_id": "adset", "ad_id": "ad"}
_BREAKDOWNS: Final = (
    "age",
    "country",
    "device_platform",
    "dma",
    "gender",
    "hourly_stats_aggregated_by_advertiser_time_zone",
    "hourly_stats_aggregated_by_audience_time_zone",
    "impression_device",
    "platform_position",
    "product_id",
    "publisher_platform",
    "region",
    "user_segment_key",
)
_FINER: Final = _LEVELS | {name: name for name in _BREAKDOWNS}
_PLAIN: Final = {
    "campaign_id": "campaign_id",
    "campaign_name": "campaign_name",
    "date_start": "date",
    "account_currency": "currency",
    "spend": "spend",
    "impressions": "impressions",
    "clicks": "clicks",
}


class Meta(Format):
    """Rows by campaign, ad set or ad, with any breakdowns; one day each."""

    name = "meta"
    kind = "ad-spend"
    within = ("data",)
    takes: ClassVar = (
        Taken("account_id", "account_id"),
        *(Taken(source, field) for source, field in _PLAIN.items()),
        Taken("date_stop", "date"),
        *(Taken(source, "segment") for source in _FINER),
    )

    def seems(self, sample: Sample) -> bool:
        return any({"date_start", "date_stop"} <= one.keys() for one in sample.records)

    def records(self, path: Path) -> Iterator[Records]:
        return report_records(path, self.within, [source for source, _ in self.takes])

    def row(self, record: Record, target: Target) -> Row:
        first = record.get("date_start")
        if record.get("date_stop") != first:
            raise Malformed(f"date_stop: not date_start ({first}): a row has to be of one day")
        row = {field: record.get(source) for source, field in _PLAIN.items()}
        account = record.get("account_id")
        return row | {
            "provider": "meta",
            "account_id": account and text(account).removeprefix("act_"),
            "segment": segment_of((name, record.get(source)) for source, name in _FINER.items()),
        }
