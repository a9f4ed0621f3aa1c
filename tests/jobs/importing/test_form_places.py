"""Which forms of tracking calls have the places of a shop: those with visitors, whoever came first."""

from typing import Any

import pytest

from tests.support.form_calls import SHOP, ours
from tests.support.import_files import Row, event, written
from tests.support.job_commands import Commands
from warehouse.connections.engine import open_engine
from warehouse.domain.time import MICROS_PER_DAY, from_micros, now_micros
from warehouse.forms import form_rules, seen_forms

NOW = from_micros(now_micros()).isoformat()
LONG_AGO = from_micros(now_micros() - 9 * MICROS_PER_DAY).isoformat()


def visit(form: str, visitor: str, at: str = NOW, **more: Any) -> Row:
    """A view, as the collector hands it on."""
    ids = {"form_session_id": f"{form} {visitor}", "visitor_id": visitor}
    kind = more.setdefault("type", "view")
    named = {"event_id": f"{form} {visitor} {kind}", "source": "segment", "form_id": form}
    return event(shop_id=SHOP, occurred_at=at, **named, **ids, **more)


def submit(form: str, visitor: str, at: str = NOW) -> list[Row]:
    return [visit(form, visitor, at), visit(form, visitor, at, type="subscribe")]


def known(commands: Commands) -> set[str]:
    return {row["source_id"] for row in commands.records("SELECT source_id FROM form")}


@pytest.fixture
def shop(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """A shop with four places."""
    commands.settings["FORMS_PER_SHOP"] = "4"
    commands.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    return commands


def test_a_form_of_one_visitor_gives_way_once_figures_have_it(shop: Commands) -> None:
    shop.take("events", [*submit("busy", "a"), *submit("busy", "b")])
    shop.take("events", [visit(f"junk{n}", "v") for n in range(20)])
    # Nothing says yet who has visitors.
    assert known(shop) == {"busy", "junk0", "junk1", "junk2"}
    shop("run", "refresh")
    # Among equals the last one seen; the same again changes nothing.
    assert known(shop) == {"busy", "junk17", "junk18", "junk19"}
    shop("run", "refresh")
    assert known(shop) == {"busy", "junk17", "junk18", "junk19"}
    shop.take("events", [visit("real", "c")])
    assert known(shop) == {"busy", "junk18", "junk19", "real"}
    # A form that has two visitors, one of them now, comes before all that have one.
    shop.take("events", [visit("junk3", "w")])
    shop("run", "refresh")
    shop.take("events", [visit(f"more{n}", "v") for n in range(20)])
    shop("run", "refresh")
    assert known(shop) == {"busy", "junk3", "more18", "more19"}
    assert shop("verify", "--all")


def test_a_form_that_nobody_submits_gives_way_to_one_with_more_visitors(shop: Commands) -> None:
    old = [row for n in range(4) for row in submit("summer", f"s{n}", LONG_AGO)]
    new = [
        row for name in ("one", "two", "three") for n in range(2) for row in submit(name, f"{n}")
    ]
    shop.take("events", old + new)
    shop("rollup")
    shop.take("events", [visit("autumn", f"a{n}") for n in range(3)])
    shop("run", "refresh")
    assert known(shop) == {"summer", "one", "two", "three"}
    shop.take("events", [visit("autumn", f"b{n}") for n in range(2)])
    shop("run", "refresh")
    assert known(shop) == {"autumn", "one", "two", "three"}


def test_own_pages_have_places_of_their_own(shop: Commands) -> None:
    shop.take("events", [visit(f"junk{n}", "v") for n in range(9)])
    shop.take("events", [visit(f"own{n}", "v", on_own_page=True) for n in range(3)])
    own = {f"own{n}" for n in range(3)}
    assert known(shop) == {"junk0", "junk1", "junk2", "junk3", *own}
    # A form is of a page of the shop from its first call from there on.
    shop.take("events", [visit("junk1", "w", on_own_page=True)])
    shop("run", "refresh")
    assert known(shop) == {"junk1", *own, *(f"junk{n}" for n in range(5, 9))}


def test_what_members_made_of_a_form_stays(shop: Commands) -> None:
    shop.take("events", [visit(name, "v") for name in ("named", "merged", "drafted", "plain")])
    with open_engine(shop.url).connect().execution_options(writes=True) as connection:
        seen_forms.rename(connection, 1, ours("named"), "Ours", now_micros())
        form_rules.merge(connection, 1, ours("merged"), ours("named"))
        connection.commit()
    shop.change(f"UPDATE form SET draft_schema = '{{}}' WHERE form_id = '{ours('drafted')}'")
    shop("rollup")
    shop.take("events", [visit(f"real{n}", visitor) for n in range(4) for visitor in "ab"])
    shop("run", "refresh")
    assert known(shop) == {"named", "merged", "drafted", "real3"}


def test_an_undo_gives_places_back(shop: Commands) -> None:
    shop.take("events", [visit(f"first{n}", "v") for n in range(4)])
    shop("rollup")
    file = written(shop.folder / "later.ndjson", [visit(f"later{n}", "v") for n in range(2)])
    shop("import", "events", str(file))
    assert known(shop) == {"first2", "first3", "later0", "later1"}
    (row,) = shop.records("SELECT MAX(import_id) AS id FROM import_file")
    shop("imports", "undo", str(row["id"]))
    assert known(shop) == {f"first{n}" for n in range(4)}
