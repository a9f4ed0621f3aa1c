"""Formats of other systems, by the name that the command knows them by: each is one module, with a
page beside it that says which of its fields become which of ours."""

from typing import Final

from jobs.importing.formats.format import Format
from jobs.importing.formats.shopify import Shopify
from jobs.importing.formats.shopify_bulk import ShopifyBulk

_ALL: Final[tuple[Format, ...]] = (Shopify(), ShopifyBulk())

FORMATS: Final = {format.name: format for format in _ALL}
