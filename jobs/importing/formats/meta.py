"""Rows of Meta's Insights as ad spend. See `meta.md`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Final

from jobs.importing.formats.ad_segment import segment_of
from jobs.importing.formats.base import Format, Record, Records, Row, Sample, SourceField, Target
from jobs.importing.formats.report_files import report_records
from jobs.importing.values.errors import InvalidValue, quoted
from jobs.importing.values.numbers import exact_sum
from jobs.importing.values.order_lists import from_json
from jobs.importing.values.texts import text

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
_DIRECT: Final = {
    "campaign_id": "campaign_id",
    "campaign_name": "campaign_name",
    "date_start": "date",
    "account_currency": "currency",
    "spend": "spend",
    "impressions": "impressions",
    "clicks": "clicks",
}


# The purchases that an ad brought, under the names of the same purchases on more and more places: all of
# them, those of shops and apps, those on the website. The first that a row has counts.
_PURCHASES: Final = ("omni_purchase", "purchase", "offsite_conversion.fb_pixel_purchase")


class Meta(Format):
    """Rows by campaign, ad set or ad, with any breakdowns; one day each."""

    name = "meta"
    kind = "ad-spend"
    list_members = ("data",)
    source_fields: ClassVar = (
        SourceField("account_id", "account_id"),
        *(SourceField(source, field) for source, field in _DIRECT.items()),
        SourceField("date_stop", "date"),
        SourceField("actions", "reported_conversions"),
        SourceField("action_values", "reported_value"),
        *(SourceField(source, "segment") for source in _FINER),
    )

    def matches(self, sample: Sample) -> bool:
        return any({"date_start", "date_stop"} <= record.keys() for record in sample.records)

    def records(self, path: Path, dates: str = "") -> Iterator[Records]:
        return report_records(path, self.list_members, dict(self.source_fields), dates)

    def row(self, record: Record, target: Target) -> Row:
        first = record.get("date_start")
        if record.get("date_stop") != first:
            raise InvalidValue(
                f"date_stop: {quoted(record.get('date_stop'))} is not date_start ({quoted(first)}); "
                "export one row a day"
            )
        row = {field: record.get(source) for source, field in _DIRECT.items()}
        account = record.get("account_id")
        return row | {
            "provider": "meta",
            "account_id": account and text(account).removeprefix("act_"),
            "segment": segment_of((name, record.get(source)) for source, name in _FINER.items()),
            "reported_conversions": _of_purchases(record, "actions"),
            "reported_value": _of_purchases(record, "action_values"),
        }


def _of_purchases(record: Record, name: str) -> str | None:
    """The number of purchases among a row's actions, or their value; None if it has none. Breakdowns of
    actions split one type over several entries. Raises InvalidValue."""
    by_type: dict[str, list[Any]] = {}
    try:
        actions = from_json(record.get(name))
        for action in actions if isinstance(actions, list) else ():
            if isinstance(action, dict) and action.get("value") is not None:
                by_type.setdefault(str(action.get("action_type")), []).append(action["value"])
        values = next((by_type[kind] for kind in _PURCHASES if kind in by_type), None)
        return None if values is None else exact_sum(values)
    except InvalidValue as cause:
        raise InvalidValue(f"{name}: {cause}") from None
