"""Ad spend as a table that people keep, or that any other platform exports. See `spend_csv.md`."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final

from jobs.importing.formats.finer import segment_of
from jobs.importing.formats.format import Format, Row, Taken, Target
from jobs.importing.formats.records import Record, Records, Sample
from jobs.importing.formats.tables import csv_records
from warehouse.vocabulary import PROVIDER_SOURCES

# How the columns are called, in lower case with "_" for all that is no letter: the first is ours.
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
    "adset": ("adset", "adset_id", "ad_set", "ad_set_id", "adgroup", "adgroup_id", "ad_group_id"),
    "ad": ("ad", "ad_id"),
    "device": ("device", "device_type"),
    "network": ("network", "publisher_platform"),
    "placement": ("placement",),
    "country": ("country", "country_code"),
}
_OURS: Final = {spelling: name for name, known in SPELLINGS.items() for spelling in known}
_FINER: Final = ("adset", "ad", "device", "network", "placement", "country")
_PLAIN: Final = tuple(name for name in SPELLINGS if name not in _FINER)
# Without one of these columns no row can be taken.
_NEEDED: Final = {"provider", "campaign_name", "date", "currency", "spend", "impressions", "clicks"}
_COLUMNS: Final = [one for name in _OURS for one in (name, name.replace("_", " "))]
_PROVIDERS: Final = {source: name for name, known in PROVIDER_SOURCES.items() for source in known}


class SpendCsv(Format):
    """Rows of one day each, under any of the usual names of columns."""

    name = "spend-csv"
    kind = "ad-spend"
    takes: ClassVar = (
        *(Taken(name, name) for name in _PLAIN),
        *(Taken(name, "segment") for name in _FINER),
    )

    def seems(self, sample: Sample) -> bool:
        is_table = sample.head.lstrip()[:1] not in (b"{", b"[")
        return is_table and any(_renamed(one).keys() >= _NEEDED for one in sample.records)

    def records(self, path: Path) -> Iterator[Records]:
        for some in csv_records(path, _COLUMNS):
            some.found = [(line, _renamed(record)) for line, record in some.found]
            yield some

    def row(self, record: Record, target: Target) -> Row:
        row = {name: record.get(name) for name in _PLAIN}
        return row | {
            "provider": _provider(row["provider"]),
            "campaign_id": row["campaign_id"] or row["campaign_name"],
            "segment": segment_of((name, record.get(name)) for name in _FINER),
        }


def _renamed(record: Record) -> Record:
    named = ((_our_name(name), value) for name, value in record.items())
    return {name: value for name, value in named if name}


@lru_cache(maxsize=1 << 10)
def _our_name(column: str) -> str:
    """Our name of a column, "" for what is not taken."""
    return _OURS.get(re.sub(r"[\W_]+", "_", column.lower()).strip("_"), "")


def _provider(given: Any) -> Any:
    """The provider by the contract's name; one that is none of those by its own."""
    if not isinstance(given, str):
        return given
    name = given.strip().lower().removesuffix("ads").rstrip()
    return _PROVIDERS.get(name, given)
