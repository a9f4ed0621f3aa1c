"""Tables of Meta's Ads Manager as ad spend. See `meta_csv.md`."""

from pathlib import Path
from typing import ClassVar, Final

from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.formats.base import Record
from jobs.importing.formats.page_export import PageExport, source_fields_of
from jobs.importing.values.errors import quoted

_COLUMNS: Final = {
    "Account ID": "account_id",
    "Campaign ID": "campaign_id",
    "Campaign name": "campaign_name",
    "Day": "date",
    "Reporting starts": "date",
    "Currency": "currency",
    "Amount spent": "spend",
    "Impressions": "impressions",
    "Clicks (all)": "clicks",
    "Link clicks": "clicks",
    "Purchases": "reported_conversions",
    "Purchases conversion value": "reported_value",
}
_LAST: Final = "Reporting ends"
_FINER: Final = {
    "Ad set ID": "adset",
    "Ad set name": "adset",
    "Ad ID": "ad",
    "Ad name": "ad",
    "Age": "age",
    "Gender": "gender",
    "Country": "country",
    "Region": "region",
    "Platform": "publisher_platform",
    "Placement": "platform_position",
    "Device platform": "device_platform",
    "Impression device": "impression_device",
}
_GERMAN: Final = {
    "Kampagnen-ID": "Campaign ID",
    "Name der Kampagne": "Campaign name",
    "Kampagnenname": "Campaign name",
    "Tag": "Day",
    "Berichtsstart": "Reporting starts",
    "Berichtsende": _LAST,
    "Währung": "Currency",
    "Ausgegebener Betrag": "Amount spent",
    "Impressionen": "Impressions",
    "Klicks (alle)": "Clicks (all)",
    "Link-Klicks": "Link clicks",
    "Linkklicks": "Link clicks",
    "Käufe": "Purchases",
    "Anzeigengruppen-ID": "Ad set ID",
    "Name der Anzeigengruppe": "Ad set name",
    "Anzeigengruppenname": "Ad set name",
    "Anzeigen-ID": "Ad ID",
    "Name der Anzeige": "Ad name",
    "Anzeigenname": "Ad name",
    "Alter": "Age",
    "Geschlecht": "Gender",
    "Land": "Country",
    "Plattform": "Platform",
    "Platzierung": "Placement",
    "Geräteplattform": "Device platform",
}


class MetaCsv(PageExport):
    name = "meta-csv"
    provider = "meta"
    columns = _COLUMNS
    finer = _FINER
    translated = _GERMAN
    shown_by = frozenset(("campaign name", "amount spent", "impressions"))
    advice = "choose Breakdown, By time, Day in Ads Manager, and export again"
    source_fields: ClassVar = source_fields_of(_COLUMNS | {_LAST: "date"}, _FINER)

    def check_days(self, path: Path, record: Record) -> None:
        first, last = record.get("Reporting starts"), record.get(_LAST)
        if "Day" not in record and "Campaign name" in record and last not in (None, first):
            raise UnreadableFile(
                f"{path}: a row is of several days ({quoted(first)} to {quoted(last)}); {self.advice}"
            )
