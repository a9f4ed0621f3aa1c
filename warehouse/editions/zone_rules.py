"""The rules of time zones that make the days of an edition.

An edition records their version, and `zone_rules` keeps them: whatever has to change in it before it is built
anew moves by the rules that made it. One version is in force, the latest that a process came with: no process
with an older one writes figures.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable
from functools import cache
from zoneinfo import ZoneInfo

from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import ZONES_VERSION, read_zone, zone, zone_rules
from warehouse.editions.pending_batches import sql_list
from warehouse.setting_values import SettingError


class OlderRules(SettingError):
    """The warehouse has days by later rules than this process has."""


def require_latest(connection: ArrowConnection) -> None:
    """Raise OlderRules where a process with later rules makes figures here."""
    latest = connection.value("SELECT MAX(zone_version) FROM zone_rules") or ""
    if latest > ZONES_VERSION:
        raise OlderRules(
            f"the days of this warehouse are made with the time zone rules {latest}, and this process has "
            f"{ZONES_VERSION}: install the package tzdata {latest} here, as the other hosts have it (`make "
            "setup` where the program is the same). Nothing was written"
        )


def record(connection: ArrowConnection, shops: Iterable[int]) -> None:
    """Keep our rules of the zones of these shops. Raises OlderRules. The caller commits."""
    connection.lock_table("zone_rules")
    require_latest(connection)
    missing = connection.table(
        f"SELECT DISTINCT timezone FROM shop WHERE shop_key IN ({sql_list(shops)}) AND timezone NOT IN "
        "(SELECT z.timezone FROM zone_rules z WHERE z.zone_version = $1)",
        ZONES_VERSION,
    )
    for name in sorted(missing.column(0).to_pylist()):
        connection.execute(
            "INSERT INTO zone_rules (zone_version, timezone, content) VALUES ($1, $2, $3) "
            "ON CONFLICT (zone_version, timezone) DO NOTHING",
            *(ZONES_VERSION, name, b64encode(zone_rules(name)).decode()),
        )


def zone_of(connection: ArrowConnection, version: str, timezone: str) -> ZoneInfo:
    """The rules that make the days of an edition: ours, where nothing tells which did."""
    if version == ZONES_VERSION:
        return zone(timezone)
    return recorded(connection, version, timezone) or zone(timezone)


def recorded(connection: ArrowConnection, version: str, timezone: str) -> ZoneInfo | None:
    """The rules of a zone in a version that was in force: our own object where they are the same. None
    where they were not recorded."""
    content = connection.value(
        "SELECT content FROM zone_rules WHERE zone_version = $1 AND timezone = $2",
        *(version, timezone),
    )
    return _read(timezone, content) if content else None


@cache
def _read(timezone: str, content: str) -> ZoneInfo:
    rules = b64decode(content)
    own = zone_rules(timezone)
    return zone(timezone) if rules == own else read_zone(timezone, rules)
