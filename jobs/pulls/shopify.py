"""A shop's orders, by the bulk operation of Shopify's GraphQL Admin API. See `shopify.md`."""

from datetime import datetime, timedelta
from itertools import islice
from typing import ClassVar, Final

import msgspec
import requests

from jobs.pulls import http, limits
from jobs.pulls.base import Json, PullOutcome, PullRun, Source
from jobs.pulls.landing_file import NewFile
from jobs.pulls.limits import PullFailed
from jobs.pulls.shopify_api import ShopifyApi
from warehouse.operations.shop_pulls import (
    SHOPIFY,
    SHOPIFY_CREDENTIALS,
    SHOPIFY_LOOKBACK_DAYS,
    SHOPIFY_SCHEDULE,
    is_shopify_domain,
)
from warehouse.settings import SHOPIFY_CLIENT_ID, SHOPIFY_CLIENT_SECRET

_WHAT: Final = "the download of the orders"

QUERY: Final = """{
  orders%s {
    edges {
      node {
        id createdAt updatedAt cancelledAt test email
        totalPriceSet { shopMoney { amount currencyCode } }
        totalDiscountsSet { shopMoney { amount } }
        customer { id defaultEmailAddress { emailAddress } }
        customAttributes { key value }
        discountCodes
        discountApplications { edges { node { ... on DiscountCodeApplication { code } } } }
        lineItems {
          edges {
            node {
              id
              discountAllocations {
                allocatedAmountSet { shopMoney { amount } }
                discountApplication { ... on DiscountCodeApplication { code } }
              }
            }
          }
        }
        refunds { id createdAt totalRefundedSet { shopMoney { amount } } }
        customerJourneySummary {
          lastVisit { landingPage utmParameters { source medium campaign term content } }
        }
      }
    }
  }
}"""
"""All fields that the format `shopify-bulk` reads; `%s` is the argument that filters the orders."""


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    """`domain`: the shop at Shopify, where its id here is another. `url`: its address in tests."""

    domain: str = ""
    url: str = ""


class ShopifySource(Source):
    name = SHOPIFY
    schedule = SHOPIFY_SCHEDULE
    lookback_days: ClassVar = SHOPIFY_LOOKBACK_DAYS

    def check(self, config: Json, shop_id: str) -> None:
        _address(config, shop_id)

    def credentials(self) -> Json:
        return dict(
            zip(
                SHOPIFY_CREDENTIALS,
                (SHOPIFY_CLIENT_ID.get(), SHOPIFY_CLIENT_SECRET.get()),
                strict=True,
            )
        )

    def pull(self, run: PullRun) -> PullOutcome:
        url = _address(run.pull.config, run.pull.shop_id)
        own_url = url if run.pull.config.get("url") else ""
        if any(not run.credentials.get(name) for name in SHOPIFY_CREDENTIALS):
            raise PullFailed(
                "no credentials of the Shopify app: set SHOPIFY_CLIENT_ID and SHOPIFY_CLIENT_SECRET, or "
                "keep them with `python -m jobs pulls add shopify --credentials`"
            )
        with http.open_session(own_url) as session:
            api = ShopifyApi(session, url, run.credentials)
            operation = api.run_bulk_query(_query(run))
            # By Shopify's clock: orders that changed meanwhile come with the next pull.
            state = {"updated_through": operation["createdAt"]}
            if not operation.get("url"):
                return PullOutcome(state, 0, 0)
            with run.new_file("orders", "shopify-bulk", ".jsonl") as file:
                size = _download(session, operation, file)
                file.publish()
        return PullOutcome(state, int(operation["objectCount"]), size)


def _address(config: Json, shop_id: str) -> str:
    """The address of the shop at Shopify. Raises ValueError."""
    converted = msgspec.convert(config, _Config)
    if converted.url:
        return http.checked_address(converted.url.rstrip("/"))
    domain = (converted.domain or shop_id).lower()
    if not is_shopify_domain(domain):
        raise ValueError(
            f"{domain!r} is no domain of Shopify's: give the shop's, such as "
            '{"domain": "example.myshopify.com"}, with --config'
        )
    return f"https://{domain}"


def _query(run: PullRun) -> str:
    """The query for the orders that have changed since the last pull, less the lookback."""
    through = run.pull.state.get("updated_through")
    if not through:
        return QUERY % ""
    since = datetime.fromisoformat(through) - timedelta(days=run.pull.lookback_days)
    return QUERY % f"(query: \"updated_at:>='{since:%Y-%m-%dT%H:%M:%SZ}'\")"


def _download(session: requests.Session, operation: Json, file: NewFile) -> int:
    """Download the result of an operation, from the beginning where it was cut off; returns its bytes."""
    reason = PullFailed(_WHAT)
    for seconds in islice(http.pauses(), http.TRIES):
        file.restart()
        try:
            return _downloaded_once(session, operation, file)
        except PullFailed as error:
            reason = error
        limits.pause(seconds)
    raise reason


def _downloaded_once(session: requests.Session, operation: Json, file: NewFile) -> int:
    lines = 0

    def write(piece: bytes) -> None:
        nonlocal lines
        lines += piece.count(b"\n")
        file.stream.write(piece)

    with http.asking(session, "GET", operation["url"], _WHAT) as answer:
        http.refuse(answer, _WHAT)
        size = http.download(answer, _WHAT, write)
    stated = operation.get("fileSize")
    # Without its size: the last line may lack its end.
    is_whole = (
        size == int(stated) if stated else int(operation["objectCount"]) in (lines, lines + 1)
    )
    if not is_whole:
        raise PullFailed(
            f"{_WHAT} was cut off: it has {size} bytes and {lines} lines, of {stated or '?'} bytes and "
            f"{operation['objectCount']} objects"
        )
    return size
