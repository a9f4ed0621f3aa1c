"""Ad spend as a table that people keep, or that any other platform exports. See `spend_csv.md`."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final

from jobs.importing.formats.ad_segment import segment_of
from jobs.importing.formats.base import Format, Record, Records, Row, Sample, SourceField, Target
from jobs.importing.formats.report_files import csv_records
from warehouse.domain.vocabulary import PROVIDER_SOURCES

# The names of the columns, in lower case with "_" between words; the first is ours.
SPELLINGS: Final = {
    "provider": ("provider", "platform", "ad_platform", "source"),
    "account_id": ("account_id", "account", "ad_account_id", "customer_id"),
    "campaign_id": ("campaign_id",),
    "campaign_name": ("campaign_name", "campaign"),
    "date": ("date", "day"),
    "currency": ("currency", "currency_code", "account_currency"),
    "spend": ("spend", "cost", "amount_spent", "ad_spend"),
    "impressions": ("impressions", "impr"),
    "clicks": ("clicks", "clicks_all"),
    "reported_conversions": ("reported_conversions", "conversions", "purchases"),
    "reported_value": (
        "reported_value",
        "conversion_value",
        "conversions_value",
        "conv_value",
        "purchase_value",
        "purchases_conversion_value",
    ),
    "adset": ("adset", "adset_id", "ad_set", "ad_set_id", "adgroup", "adgroup_id", "ad_group_id"),
    "ad": ("ad", "ad_id"),
    "device": ("device", "device_type"),
    "network": ("network", "publisher_platform"),
    "placement": ("placement",),
    "country": ("country", "country_code"),
}
_OURS: Final = {spelling: name for name, spellings in SPELLINGS.items() for spelling in spellings}
_FINER: Final = ("adset", "ad", "device", "network", "placement", "country")
_DIRECT: Final = tuple(name for name in SPELLINGS if name not in _FINER)
# Columns without which no row is complete.
_REQUIRED: Final = {
    "provider",
    "campaign_name",
    "date",
    "currency",
    "spend",
    "impressions",
    "clicks",
}
_COLUMNS: Final = [column for name in _OURS for column in (name, name.replace("_", " "))]
# Columns of other tables can have names of any length; the whole of them is not remembered.
_LONGEST_NAME: Final = 255
_PROVIDERS: Final = {
    source: name for name, sources in PROVIDER_SOURCES.items() for source in sources
}


class SpendCsv(Format):
    """Rows of one day each, under any of the usual names of columns."""

    name = "spend-csv"
    kind = "ad-spend"
    source_fields: ClassVar = (
        *(SourceField(name, name) for name in _DIRECT),
        *(SourceField(name, "segment") for name in _FINER),
    )

    def matches(self, sample: Sample) -> bool:
        is_table = sample.head.lstrip()[:1] not in (b"{", b"[")
        return is_table and any(_renamed(record).keys() >= _REQUIRED for record in sample.records)

    def records(self, path: Path, dates: str = "") -> Iterator[Records]:
        for some in csv_records(path, _COLUMNS, _field_of, dates, _REQUIRED):
            some.numbered = [(line, _renamed(record)) for line, record in some.numbered]
            yield some

    def row(self, record: Record, target: Target) -> Row:
        row = {name: record.get(name) for name in _DIRECT}
        return row | {
            "provider": _provider(row["provider"]),
            "campaign_id": row["campaign_id"] or row["campaign_name"],
            "segment": segment_of((name, record.get(name)) for name in _FINER),
        }


def _renamed(record: Record) -> Record:
    named = ((_field_of(name), value) for name, value in record.items())
    return {name: value for name, value in named if name}


def _field_of(column: str) -> str:
    """Our name of a column, "" for one that is not mapped."""
    return _our_name(column[:_LONGEST_NAME])


@lru_cache(maxsize=1 << 10)
def _our_name(column: str) -> str:
    return _OURS.get(re.sub(r"[\W_]+", "_", column.lower()).strip("_"), "")


def _provider(stated: Any) -> Any:
    """The provider by the name that the product uses; an unknown one by its own, without "Ads" behind it, as
    UTM sources have it."""
    if not isinstance(stated, str):
        return stated
    name = stated.strip().lower().removesuffix("ads").rstrip()
    return _PROVIDERS.get(name) or stated.strip().lower().removesuffix(" ads").rstrip() or stated
