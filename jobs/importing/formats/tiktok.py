"""Rows of TikTok's reporting API as ad spend. See `tiktok.md`."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Final

from jobs.importing.formats.finer import segment_of
from jobs.importing.formats.format import Format, Row, Taken, Target
from jobs.importing.formats.records import Record, Records, Sample
from jobs.importing.formats.tables import report_records

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
_PLAIN: Final = {
    "advertiser_id": "account_id",
    "campaign_id": "campaign_id",
    "campaign_name": "campaign_name",
    "currency": "currency",
    "spend": "spend",
    "impressions": "impressions",
    "clicks": "clicks",
}
_DAY: Final = "stat_time_day"
_MIDNIGHT: Final = " 00:00:00"
# What stands where there is no value.
_NONE: Final = (None, "", "-")
_OF_ADVERTISER: Final = {"advertiser_id", "currency"}
_GROUPS: Final = ("metrics", "dimensions")


class TikTok(Format):
    """Rows of one day each, by campaign, ad group or ad, with any dimensions of an audience report."""

    name = "tiktok"
    kind = "ad-spend"
    within = ("data", "list")
    takes: ClassVar = (
        *(Taken(source, field) for source, field in _PLAIN.items()),
        Taken(_DAY, "date"),
        *(Taken(source, "segment") for source in _FINER),
    )

    def seems(self, sample: Sample) -> bool:
        return any(_DAY in _flat(one) for one in sample.records)

    def records(self, path: Path) -> Iterator[Records]:
        """Those of reports. Where they do not say whose they are or in which currency, the record of
        an advertiser that stands before them does."""
        known: dict[str, Record] = {}
        last: Record = {}
        for some in report_records(path, self.within, [source for source, _ in self.takes]):
            rows = []
            for line, given in some.found:
                record = _flat(given)
                if "spend" not in record and record.keys() >= _OF_ADVERTISER:
                    last = {name: record[name] for name in _OF_ADVERTISER}
                    known[str(last["advertiser_id"])] = last
                else:
                    owner = record.get("advertiser_id")
                    whose = last if owner is None else known.get(str(owner), {})
                    rows.append((line, whose | record))
            yield Records(rows, some.broken, some.position)

    def row(self, record: Record, target: Target) -> Row:
        row = {field: record.get(source) for source, field in _PLAIN.items()}
        day = record.get(_DAY)
        if isinstance(day, str):
            day = day.removesuffix(_MIDNIGHT)
        return row | {
            "provider": "tiktok",
            "date": day,
            "segment": segment_of((name, record.get(source)) for source, name in _FINER.items()),
        }


def _flat(record: Record) -> Record:
    """A record with its dimensions and metrics beside each other, without those that have no value."""
    inner = [record[name] for name in _GROUPS if isinstance(record.get(name), dict)]
    found = {name: value for name, value in record.items() if name not in _GROUPS}
    for one in inner:
        found |= one
    return {name: value for name, value in found.items() if value not in _NONE}
