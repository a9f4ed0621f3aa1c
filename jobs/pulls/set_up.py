"""The sources that can be pulled, and how a pull of one is set up, changed and found."""

from typing import Any, Final

from jobs.pulls.base import Json, Source
from jobs.pulls.ecb import EcbSource
from jobs.pulls.shopify import ShopifySource
from jobs.pulls.singer import SingerSource
from jobs.run.errors import CommandFailed
from jobs.run.job_run import shop_keys
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import now_micros
from warehouse.intake import shop_pulls
from warehouse.intake.shop_pulls import Pull, default_name, encrypted, is_name

SOURCES: Final[dict[str, Source]] = {
    source.name: source for source in (EcbSource(), ShopifySource(), SingerSource())
}


def ensure_pulls(connection: ArrowConnection, source: str, shop: str | None) -> list[str]:
    """The names of a source's pulls (of a shop). Where there is none, one is set up that runs by hand
    only. Raises CommandFailed if it cannot be. Commits."""
    pulls = [pull for pull in shop_pulls.list_pulls(connection) if pull.source == source]
    names = [pull.name for pull in pulls if shop is None or pull.shop_id == shop]
    return names or [set_up(connection, source, shop, schedule="").name]


def set_up(
    connection: ArrowConnection,
    source: str,
    shop: str | None,
    *,
    name: str | None = None,
    config: Json | None = None,
    credentials: Json | None = None,
    schedule: str | None = None,
    lookback: int | None = None,
) -> Pull:
    """Set up a pull, or change what is given of the one that has its name. `lookback`: days. Raises
    CommandFailed. Commits."""
    declared = SOURCES[source]
    shop_key, shop_id = 0, ""
    if declared.needs_shop:
        keys = shop_keys(connection, shop)
        if len(keys) != 1:
            raise CommandFailed(
                "no shop is imported yet; import it first (kind shops)"
                if not keys
                else f"there are {len(keys)} shops: say which with --shop"
            )
        shop_key = keys[0]
        shop_id = str(connection.value("SELECT shop_id FROM shop WHERE shop_key = $1", shop_key))
    name = name or default_name(source, shop_id)
    if not is_name(name):
        raise CommandFailed(
            f"{name!r} cannot be the name of a pull: give --name with up to 100 letters, digits, '.', '_' "
            "and '-'"
        )
    before = shop_pulls.find(connection, name)
    if before and (before.source, before.shop_key) != (source, shop_key):
        raise CommandFailed(
            f"there is a pull {name!r} of {before.source} for {before.shop_id or 'all shops'}: give "
            "another --name"
        )
    pull = Pull(
        name,
        source,
        shop_key,
        shop_id,
        _first(config, before and before.config, {}),
        encrypted(credentials) if credentials else before.credentials if before else "",
        _first(schedule, before and before.schedule, declared.schedule),
        _first(lookback, before and before.lookback_days, declared.lookback_days),
    )
    try:
        declared.check(pull.config, shop_id)
    except ValueError as error:
        raise CommandFailed(f"the configuration of {name}: {error}") from None
    shop_pulls.save(connection, pull, now_micros())
    return pull


def _first(*values: Any) -> Any:
    """The first value that is given."""
    return next(value for value in values if value is not None)
