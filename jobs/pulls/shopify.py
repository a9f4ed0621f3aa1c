"""A shop's orders, by the bulk operation of Shopify's GraphQL Admin API. See `shopify.md`."""

from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import BinaryIO, ClassVar, Final

import msgspec
import requests

from jobs.importing.formats import shopify as shopify_formats
from jobs.pulls import http, limits
from jobs.pulls.base import Json, PullOutcome, PullRun, Source
from jobs.pulls.limits import PullFailed
from jobs.pulls.shopify_api import COMPLETED, RUNNING, ShopifyApi
from warehouse import command
from warehouse.intake.shop_pulls import (
    SHOPIFY,
    SHOPIFY_CREDENTIALS,
    SHOPIFY_LOOKBACK_DAYS,
    SHOPIFY_SCHEDULE,
    Pull,
    is_shopify_domain,
)
from warehouse.settings import SHOPIFY_CLIENT_ID, SHOPIFY_CLIENT_SECRET

_WHAT: Final = "the download of the orders"

_PAGE: Final = Path(shopify_formats.__file__).with_name("bulk.md")


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    """`domain`: the shop at Shopify, where its id here is another. `url`: its address in tests."""

    domain: str = ""
    url: str = ""


_CREDENTIALS: Final = (
    "credentials of the Shopify app: set SHOPIFY_CLIENT_ID and SHOPIFY_CLIENT_SECRET, or keep them with "
    f"`{command('jobs pulls add shopify --credentials')}`"
)


class ShopifySource(Source):
    name = SHOPIFY
    schedule = SHOPIFY_SCHEDULE
    lookback_days: ClassVar = SHOPIFY_LOOKBACK_DAYS

    def check(self, config: Json, shop_id: str) -> None:
        _address(config, shop_id)

    def lacks(self, pull: Pull) -> str:
        return "" if pull.credentials or all(_of_environment().values()) else _CREDENTIALS

    def pull(self, run: PullRun) -> PullOutcome:
        url = _address(run.pull.config, run.pull.shop_id)
        own_url = url if run.pull.config.get("url") else ""
        # In `run`, whose credentials no message shows.
        run.credentials = run.credentials or _of_environment()
        if any(not run.credentials.get(name) for name in SHOPIFY_CREDENTIALS):
            raise PullFailed(f"no {_CREDENTIALS}")
        with http.open_session(own_url) as session:
            api = ShopifyApi(session, url, run.credentials)
            operation = _taken_up(api, run)
            if not operation:
                asked = _query_of(run)
                operation = api.start_bulk_query(asked)
                begun = {"id": operation["id"], "query": asked}
                run.keep_state({**run.pull.state, "operation": begun})
            operation = api.wait_for(operation)
            # By Shopify's clock: orders that changed meanwhile come with the next pull.
            state = {"updated_through": operation["createdAt"]}
            if not operation.get("url"):
                return PullOutcome(state, 0, 0)
            with run.new_file("orders", "shopify-bulk", ".jsonl") as file:
                size = _download(session, operation, file, run)
        return PullOutcome(state, int(operation["objectCount"]), size)


def _query_of(run: PullRun) -> str:
    return query(run.pull.state.get("updated_through"), run.pull.lookback_days)


def _taken_up(api: ShopifyApi, run: PullRun) -> Json | None:
    """The operation that an earlier pull has started and not brought to its end, if it still runs or has a
    result. It may take longer than one pull may."""
    begun = run.pull.state.get("operation")
    if not begun or begun["query"] != _query_of(run):
        return None
    operation = None
    # An operation of another app, say, must not keep all pulls from starting their own.
    with suppress(PullFailed):
        operation = api.find_operation(begun["id"])
    if not operation:
        return None
    # After a week its result is gone.
    has_result = operation.get("url") or operation["objectCount"] == "0"
    is_whole = operation["status"] == COMPLETED and has_result
    return operation if is_whole or operation["status"] in RUNNING else None


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


def _of_environment() -> Json:
    settings = (SHOPIFY_CLIENT_ID, SHOPIFY_CLIENT_SECRET)
    return {
        name: setting.get() for name, setting in zip(SHOPIFY_CREDENTIALS, settings, strict=True)
    }


def query(through: str | None, lookback_days: int) -> str:
    """The query for all that the format reads of the orders that have changed since a pull, less the
    lookback. It stands on the page of the format."""
    text = _PAGE.read_text().partition("```graphql\n")[2].partition("\n```")[0]
    if not through:
        return text
    since = datetime.fromisoformat(through) - timedelta(days=lookback_days)
    changed = f"(query: \"updated_at:>='{since:%Y-%m-%dT%H:%M:%SZ}'\")"
    return text.replace("orders {", f"orders{changed} {{", 1)


def _download(session: requests.Session, operation: Json, file: BinaryIO, run: PullRun) -> int:
    """Download the result of an operation, from the beginning where it was cut off; returns its bytes. One
    whose result cannot be downloaded is not taken up again."""
    stated, objects = operation.get("fileSize"), int(operation["objectCount"])
    lines = 0

    def write(piece: bytes) -> None:
        nonlocal lines
        lines += piece.count(b"\n")
        file.write(piece)

    reason = PullFailed(_WHAT)
    for seconds in islice(http.pauses(), http.TRIES):
        lines = 0
        file.seek(0)
        file.truncate()
        try:
            with http.asking(session, "GET", operation["url"], _WHAT) as answer:
                http.refuse(answer, _WHAT)
                size = http.download(answer, _WHAT, write)
            # Without its size: the last line may lack its end.
            if size == int(stated) if stated else objects in (lines, lines + 1):
                return size
            reason = PullFailed(
                f"{_WHAT} was cut off: it has {size} bytes and {lines} lines, of {stated or '?'} bytes and "
                f"{operation['objectCount']} objects"
            )
        except PullFailed as error:
            reason = error
        limits.pause(seconds)
    run.keep_state({name: run.pull.state[name] for name in run.pull.state if name != "operation"})
    raise reason
