"""Rules of time zones that change: days are those of the packaged rules, also where an earlier package made
them, and where the system has other rules."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tzdata

from tests.support.commands import ROOT
from tests.support.import_files import FORM, event, order
from tests.support.job_commands import Commands
from warehouse.tables import DAILY

PACKAGE = Path(tzdata.__file__).parent
EARLIER = "2001a"
# By the earlier rules it is 00:20 of the 20th, by those of today 23:20 of the 19th.
MOVED, UNMOVED = "2026-01-20T07:{}:00Z", "2026-01-20T20:{}:00Z"
SHOPS = {
    "moved.example": ("America/Vancouver", MOVED),
    "unmoved.example": ("America/Vancouver", UNMOVED),
    "elsewhere.example": ("Europe/Berlin", MOVED),
    "utc.example": ("UTC", MOVED),
}
DAY_19, DAY_20 = 20_472, 20_473


@pytest.fixture(scope="session")
def earlier_rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an earlier package, in which Vancouver has the time of Denver."""
    folder = tmp_path_factory.mktemp("earlier")
    package = folder / "tzdata"
    shutil.copytree(PACKAGE, package)
    shutil.copy(package / "zoneinfo/America/Denver", package / "zoneinfo/America/Vancouver")
    (package / "__init__.py").write_text(f'IANA_VERSION = "{EARLIER}"\n')
    return folder


def on_earlier_host(commands: Commands, rules: Path, *words: str) -> subprocess.CompletedProcess:
    path = os.pathsep.join([str(rules), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-m", "jobs", *words],
        cwd=ROOT,
        env={**os.environ, **commands.settings, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def visit(shop_id: str, at: str, **more: Any) -> list[dict[str, Any]]:
    own = {"shop_id": shop_id, "form_session_id": "s1", "visitor_id": "v1", **more}
    return [
        event(event_id="e1", type="view", occurred_at=at.format(20), **own),
        event(event_id="e2", type="subscribe", occurred_at=at.format(25), **own),
    ]


@pytest.fixture
def loaded_shops(commands: Commands, earlier_rules: Path) -> Commands:
    """Shops that the host with the earlier rules has rolled up."""
    zones = [
        {"shop_id": id, "currency": "EUR", "timezone": zone} for id, (zone, _) in SHOPS.items()
    ]
    commands.take("shops", zones)
    commands.take("forms", [{"shop_id": id, "form_id": FORM, "name": "News"} for id in SHOPS])
    commands.take("events", [row for id, (_, at) in SHOPS.items() for row in visit(id, at)])
    commands.take(
        "orders",
        [
            order(shop_id=id, visitor_id="v1", created_at=at.format(30))
            for id, (_, at) in SHOPS.items()
        ],
    )
    done = on_earlier_host(commands, earlier_rules, "rollup")
    assert done.returncode == 0, done.stderr
    return commands


def editions_by_shop(commands: Commands) -> dict[str, tuple[int, str]]:
    rows = commands.rows(
        "SELECT s.shop_id, e.edition, e.zone_version FROM shop s JOIN edition e ON e.edition = s.edition"
    )
    return {shop_id: (edition, version) for shop_id, edition, version in rows}


def days_of(commands: Commands, shop_id: str) -> set[int]:
    """All days on which the shop has figures."""
    selected = " UNION ".join(
        f"SELECT d.day FROM {table.name} d JOIN shop s ON s.edition = d.edition "
        f"WHERE s.shop_id = '{shop_id}'"
        for table in DAILY.values()
    )
    return set(commands.rows(selected))


def test_later_rules_move_the_shops_whose_instants_they_move(
    loaded_shops: Commands, earlier_rules: Path
) -> None:
    commands = loaded_shops
    before = editions_by_shop(commands)
    assert {version for _, version in before.values()} == {EARLIER}
    assert days_of(commands, "moved.example") == {DAY_20}
    commands("rollup")
    after = editions_by_shop(commands)
    assert {version for _, version in after.values()} == {tzdata.IANA_VERSION}
    assert days_of(commands, "moved.example") == {DAY_19}
    rebuilt = {shop_id for shop_id in SHOPS if before[shop_id][0] != after[shop_id][0]}
    assert rebuilt == {"moved.example"}
    late = [row for id, (_, at) in SHOPS.items() for row in visit(id, at)[:1]]
    commands.take("events", [row | {"event_id": "e3", "type": "start"} for row in late])
    commands("rollup")
    assert days_of(commands, "moved.example") == {DAY_19}
    commands("verify", "--all")


def test_a_host_with_earlier_rules_stops_writing(
    loaded_shops: Commands, earlier_rules: Path
) -> None:
    commands = loaded_shops
    commands("rollup")
    late = visit("moved.example", MOVED)[0] | {"event_id": "e3", "type": "start"}
    commands.take("events", [late])
    before = editions_by_shop(commands)
    for words in (
        ["rollup"],
        ["rollup", "--refresh"],
        ["rebuild"],
        ["backfill", "--from", "2026-01-19", "--to", "2026-01-20"],
    ):
        refused = on_earlier_host(commands, earlier_rules, *words)
        assert refused.returncode == 1, words
        assert refused.stderr.strip().splitlines()[-1] == (
            f"Error: the days of this warehouse are made with the time zone rules {tzdata.IANA_VERSION}, "
            f"and this process has {EARLIER}: install the package tzdata {tzdata.IANA_VERSION} here, as "
            "the other hosts have it (`make setup` where the program is the same). Nothing was written"
        )
    assert editions_by_shop(commands) == before
    commands("rollup")
    commands("verify", "--all")


def test_an_undo_builds_by_the_latest_rules(loaded_shops: Commands) -> None:
    commands = loaded_shops
    commands("verify", "--all")
    (last,) = commands.rows("SELECT MAX(import_id) FROM import_file WHERE kind = 'orders'")
    commands("imports", "undo", str(last))
    assert days_of(commands, "moved.example") == {DAY_19}
    commands("verify", "--all")


def test_days_of_an_unknown_version_are_made_anew(loaded_shops: Commands) -> None:
    """As a warehouse has them that an earlier version of the program made: by the system's rules."""
    commands = loaded_shops
    commands.change("UPDATE edition SET zone_version = ''")
    commands.change("DELETE FROM zone_rules")
    before = editions_by_shop(commands)
    commands("rollup")
    after = editions_by_shop(commands)
    rebuilt = {shop_id for shop_id in SHOPS if before[shop_id][0] != after[shop_id][0]}
    assert rebuilt == SHOPS.keys() - {"utc.example"}
    assert days_of(commands, "moved.example") == {DAY_19}


def test_facts_of_events_that_are_gone_are_moved_too(loaded_shops: Commands) -> None:
    commands = loaded_shops
    commands.settings["RAW_DAYS"] = "30"
    commands("purge")
    assert commands.rows("SELECT COUNT(*) FROM raw_event") == [0]
    commands.change("DELETE FROM raw_order")
    commands("rollup")
    assert days_of(commands, "moved.example") & {DAY_19, DAY_20} == {DAY_19}


def test_the_rules_of_the_system_make_no_day(earlier_rules: Path) -> None:
    printed = subprocess.run(
        [
            *(sys.executable, "-c"),
            "from warehouse.domain.time import local_day as day; "
            "print(day(1768893600000000, 'America/Vancouver'))",
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONTZPATH": str(earlier_rules / "tzdata/zoneinfo")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.strip() == str(DAY_19)
