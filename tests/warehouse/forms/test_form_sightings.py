"""The forms that the collector saw: kept for days, exported, and gone with a person whom they name."""

import gzip
import json
import zipfile

from tests.support.commands import run_web
from tests.support.import_files import event
from tests.support.job_commands import Commands
from warehouse.connections.engine import open_engine
from warehouse.domain.time import MICROS_PER_DAY, now_micros
from warehouse.forms.form_sightings import KEPT_DAYS, Sighting, see

SHOP = "a.example"
VISITOR = "forget-me-visitor-77"


def sight(commands: Commands, **sightings: Sighting) -> None:
    with open_engine(commands.url).connect().execution_options(writes=True) as connection:
        see(connection, {(1, form_id): one for form_id, one in sightings.items()})
        connection.commit()


def sighted(commands: Commands) -> set[str]:
    return {row["form_id"] for row in commands.records("SELECT form_id FROM form_sighting")}


def test_sightings_are_purged_after_days(commands: Commands) -> None:
    commands.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    old = now_micros() - KEPT_DAYS * MICROS_PER_DAY
    sight(commands, old=Sighting("Old", "/a", old - 1), new=Sighting("New", "/a", old + 10**9))
    commands("purge")
    assert sighted(commands) == {"new"}


def test_sightings_that_name_a_person_go_with_the_person(commands: Commands) -> None:
    commands.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    commands.take("events", [event(visitor_id=VISITOR)])
    now = now_micros()
    sight(
        commands,
        path=Sighting("Form", f"/{VISITOR}", now),
        name=Sighting(f"Account of {VISITOR}", "/account", now),
        other=Sighting("Another", f"/{VISITOR}8", now),
    )
    commands("forget", "--shop", SHOP, "--visitor", VISITOR)
    assert sighted(commands) == {"other"}


def test_sightings_are_exported(commands: Commands) -> None:
    commands.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    sight(commands, f=Sighting("News", "/pages", 1_000_000))
    file = commands.folder / "shop.zip"
    exported = run_web(commands.url, "shops", "export", SHOP, str(file))
    assert exported.status == 0, exported.errors
    with zipfile.ZipFile(file) as archive:
        rows = gzip.decompress(archive.read("seen-forms.ndjson.gz")).splitlines()
    assert [json.loads(row) for row in rows] == [
        {"form_id": "f", "name": "News", "path": "/pages", "seen_at": "1970-01-01T00:00:01.000Z"}
    ]
