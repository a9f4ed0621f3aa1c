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
from warehouse.domain import zones
from warehouse.editions.pending_batches import sql_list
from warehouse.setting_values import SettingError


class OlderRules(SettingError):
    """The warehouse has days by later rules than this process has."""


def require_latest(connection: ArrowConnection) -> None:
    """Raises OlderRules where a process with later rules makes figures here."""
    latest = connection.value("SELECT MAX(zone_version) FROM zone_rules") or ""
    if latest > zones.VERSION:
        raise OlderRules(
            f"the days of this warehouse are made with the time zone rules {latest}, and this process has "
            f"{zones.VERSION}: install the package tzdata {latest} here, as the other hosts have it (`make "
            "setup` where the program is the same). Nothing was written"
        )


def record(connection: ArrowConnection, shops: Iterable[int]) -> None:
    """Keep our rules of the zones of these shops. Raises OlderRules. The caller commits."""
    connection.lock_table("zone_rules")
    require_latest(connection)
    missing = connection.table(
        f"SELECT DISTINCT timezone FROM shop WHERE shop_key IN ({sql_list(shops)}) AND timezone NOT IN "
        "(SELECT z.timezone FROM zone_rules z WHERE z.zone_version = $1)",
        zones.VERSION,
    )
    for name in sorted(missing.column(0).to_pylist()):
        connection.execute(
            "INSERT INTO zone_rules (zone_version, timezone, content) VALUES ($1, $2, $3) "
            "ON CONFLICT (zone_version, timezone) DO NOTHING",
            *(zones.VERSION, name, b64encode(zones.content(name)).decode()),
        )


def zone_of(connection: ArrowConnection, version: str, timezone: str) -> ZoneInfo:
    """The rules that make the days of an edition: ours, where nothing tells which did."""
    if version == zones.VERSION:
        return zones.zone(timezone)
    return recorded(connection, version, timezone) or zones.zone(timezone)


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
    own = zones.content(timezone)
    return zones.zone(timezone) if rules == own else zones.read(timezone, rules)
