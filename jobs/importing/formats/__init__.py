"""Exports of other systems. Each format is one module with a page that maps its fields to ours, and an ad
report is a table in `ads/`; see `README.md`. Start with `base`."""

from typing import Final

from jobs.importing.formats.ads import REPORTS
from jobs.importing.formats.base import Format
from jobs.importing.formats.ecb import Ecb
from jobs.importing.formats.segment import Segment
from jobs.importing.formats.shopify.admin_csv import ShopifyCsv
from jobs.importing.formats.shopify.bulk import ShopifyBulk
from jobs.importing.formats.shopify.rest import Shopify

_ALL: Final[tuple[Format, ...]] = (
    Shopify(),
    ShopifyBulk(),
    ShopifyCsv(),
    Segment(),
    *REPORTS,
    Ecb(),
)

FORMATS: Final = {format.name: format for format in _ALL}
