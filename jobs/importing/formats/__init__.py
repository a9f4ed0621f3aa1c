"""Formats of other systems, by the name that the command knows them by: each is one module, with a
page beside it that says which of its fields become which of ours."""

from typing import Final

from jobs.importing.formats.ecb import Ecb
from jobs.importing.formats.format import Format
from jobs.importing.formats.google_ads import GoogleAds
from jobs.importing.formats.meta import Meta
from jobs.importing.formats.segment import Segment
from jobs.importing.formats.shopify import Shopify
from jobs.importing.formats.shopify_bulk import ShopifyBulk
from jobs.importing.formats.spend_csv import SpendCsv
from jobs.importing.formats.tiktok import TikTok

_ALL: Final[tuple[Format, ...]] = (
    Shopify(),
    ShopifyBulk(),
    Segment(),
    Meta(),
    GoogleAds(),
    TikTok(),
    SpendCsv(),
    Ecb(),
)

FORMATS: Final = {format.name: format for format in _ALL}
