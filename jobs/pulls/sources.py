"""The sources that can be pulled, by name."""

from typing import Final

from jobs.pulls.base import Source
from jobs.pulls.ecb import EcbSource
from jobs.pulls.shopify import ShopifySource
from jobs.pulls.singer import SingerSource

SOURCES: Final[dict[str, Source]] = {
    source.name: source for source in (EcbSource(), ShopifySource(), SingerSource())
}
