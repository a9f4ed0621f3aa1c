"""Reports of Google Ads as its pages export them, as ad spend. See `google_ads_csv.md`."""

from typing import ClassVar, Final

from jobs.importing.formats.page_export import PageExport, source_fields_of

_COLUMNS: Final = {
    "Customer ID": "account_id",
    "Campaign ID": "campaign_id",
    "Campaign": "campaign_name",
    "Day": "date",
    "Currency code": "currency",
    "Currency": "currency",
    "Cost": "spend",
    "Impr": "impressions",
    "Impressions": "impressions",
    "Clicks": "clicks",
    "Conversions": "reported_conversions",
    "Conv value": "reported_value",
}
_FINER: Final = {
    "Ad group ID": "adgroup",
    "Ad group": "adgroup",
    "Ad ID": "ad",
    "Keyword ID": "criterion",
    "Search keyword": "criterion",
    "Asset group": "assetgroup",
    "Device": "device",
    "Network": "adNetworkType",
    "Network (with search partners)": "adNetworkType",
}
_GERMAN: Final = {
    "Kundennummer": "Customer ID",
    "Kampagnen-ID": "Campaign ID",
    "Kampagne": "Campaign",
    "Tag": "Day",
    "Währungscode": "Currency code",
    "Währung": "Currency",
    "Kosten": "Cost",
    "Impressionen": "Impressions",
    "Klicks": "Clicks",
    "Conv-Wert": "Conv value",
    "Anzeigengruppen-ID": "Ad group ID",
    "Anzeigengruppe": "Ad group",
    "Anzeigen-ID": "Ad ID",
    "Keyword-ID": "Keyword ID",
    "Asset-Gruppe": "Asset group",
    "Gerät": "Device",
    "Netzwerk": "Network",
}


class GoogleAdsCsv(PageExport):
    name = "google-ads-csv"
    provider = "google"
    columns = _COLUMNS
    finer = _FINER
    translated = _GERMAN
    shown_by = frozenset(("campaign", "cost", "clicks"))
    advice = "choose Segment, Time, Day in Google Ads, and download again"
    source_fields: ClassVar = source_fields_of(_COLUMNS, _FINER)
