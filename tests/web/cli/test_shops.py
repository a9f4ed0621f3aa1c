"""`shops` and `forms` at the command line: the same rows and rules as an import of shops."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine, insert, text

from jobs.cli import main as jobs
from tests.support.import_files import written
from tests.support.shop_builder import ShopBuilder, writing
from warehouse import tables
from web.cli import main

ID = "n.example"
ADD = ("shops", "add", ID, "--currency", "eur", "--timezone", "Europe/Berlin", "--name", "New")
ROW = "SELECT * FROM shop WHERE shop_id = 'n.example'"


def invoke(url: str, *words: str, status: int = 0) -> Result:
    result = CliRunner().invoke(main, words, env={"WAREHOUSE_URL": url})
    assert result.exit_code == status, result.output
    return result


def listed(url: str, *words: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in invoke(url, *words, "--json").stdout.splitlines()]


def rows(engine: Engine) -> list[dict[str, Any]]:
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(text(ROW)).mappings()]


def test_a_shop_is_added_as_an_import_adds_it(
    warehouse_url: str, engine: Engine, tmp_path: Path
) -> None:
    assert invoke(warehouse_url, *ADD).stdout == "added n.example\n"
    (added,) = rows(engine)
    with writing(engine) as connection:
        connection.execute(text("DELETE FROM shop"))
    row = {"shop_id": ID, "name": "New", "currency": "EUR", "timezone": "Europe/Berlin"}
    file = written(tmp_path / "shops.ndjson", [row])
    engine.dispose()  # a job and an engine of one process cannot share a file of SQLite
    imported = ["import", "shops", str(file)]
    result = CliRunner().invoke(jobs, imported, env={"WAREHOUSE_URL": warehouse_url})
    assert result.exit_code == 0, result.output
    own = ("shop_key", "data_changed_at")
    assert added.pop("data_changed_at") > 1_700_000_000_000_000
    (row,) = rows(engine)
    assert {name: row[name] for name in row.keys() - set(own)} == {
        name: added[name] for name in added.keys() - set(own)
    }
    shown = {"shopId": ID, "name": "New", "currency": "EUR", "timezone": "Europe/Berlin"}
    assert listed(warehouse_url, "shops", "list") == [shown]
    lines = invoke(warehouse_url, "shops", "list").stdout.splitlines()
    assert [line.split() for line in lines] == [
        ["SHOP", "CURRENCY", "TIMEZONE", "NAME"],
        [ID, "EUR", "Europe/Berlin", "New"],
    ]


def test_a_shop_that_is_there_stays_as_it_is(warehouse_url: str, engine: Engine) -> None:
    invoke(warehouse_url, *ADD)
    before = rows(engine)
    for words in (ADD, ADD[:-2]):
        printed = invoke(warehouse_url, *words).stdout
        assert printed == "n.example is there already: nothing has changed\n"
    refused = invoke(warehouse_url, "shops", "add", ID, "--currency", "USD", status=1)
    assert refused.stderr == (
        "Error: there is a shop 'n.example' already, and it differs: its currency is 'EUR', not 'USD', its "
        "timezone is 'Europe/Berlin', not 'UTC'. To change it, import it again with `python -m jobs import "
        "shops FILE`\n"
    )
    other = (*ADD[:-1], "Other")
    assert "its name is 'New', not 'Other'" in invoke(warehouse_url, *other, status=1).stderr
    assert rows(engine) == before


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("", "--currency", "EUR"), "'' is no id; an example is example.myshopify.com"),
        (
            ("x" * 256, "--currency", "EUR"),
            f"'{'x' * 60}…' is longer than 255 characters; an example is example.myshopify.com",
        ),
        ((ID, "--currency", "XQX"), "'XQX' is not a currency of ISO 4217; an example is EUR"),
        (
            (ID, "--currency", "EURO"),
            "'EURO' is not a currency code of three letters; an example is EUR",
        ),
        (
            (ID, "--currency", "EUR", "--timezone", "Berlin"),
            "'Berlin' is not an IANA time zone; an example is Europe/Berlin",
        ),
        ((ID,), "Missing option '--currency'"),
    ],
)
def test_settings_that_no_shop_can_have(
    warehouse_url: str, engine: Engine, words: tuple[str, ...], reason: str
) -> None:
    assert reason in invoke(warehouse_url, "shops", "add", *words, status=2).stderr
    assert rows(engine) == []


def test_forms_are_listed_with_their_ids(warehouse_url: str, engine: Engine) -> None:
    shop, other = ShopBuilder(engine), ShopBuilder(engine, "other.myshopify.com")
    own, seen = "0190c4a2-5b7e-7c3d-8f1a-2b3c4d5e6f70", "28b0a3bf-3ba2-5b48-8e25-65102735ba66"
    plain = {"status": "published", "created_at": 1}
    foreign = {"source": "segment", "source_id": "pop\nup", "name": "Pop\x1b[2Jup", "created_at": 2}
    with writing(engine) as connection:
        for row in (
            {"shop_key": shop.key, "form_id": own, "name": "Quiz"},
            {"shop_key": shop.key, "form_id": seen, **foreign},
            {"shop_key": other.key, "form_id": own, "name": "Elsewhere"},
        ):
            connection.execute(insert(tables.form).values(**plain | row))
    found = listed(warehouse_url, "forms", "list", "--shop", shop.shop_id)
    quiz = {"formId": own, "shopId": shop.shop_id, "name": "Quiz", "status": "published"}
    assert found == [
        quiz | {"source": None, "sourceId": None},
        quiz | {"formId": seen, "name": "Pop\x1b[2Jup", "source": "segment", "sourceId": "pop\nup"},
    ]
    assert len(listed(warehouse_url, "forms", "list")) == 3
    # A name of strangers moves no cursor.
    lines = invoke(warehouse_url, "forms", "list", "--shop", shop.shop_id).stdout.splitlines()
    assert lines[0].split() == ["FORM", "SHOP", "STATUS", "SOURCE", "SOURCE", "ID", "NAME"]
    assert [line.split()[3:] for line in lines[1:]] == [
        ["Quiz"],
        ["segment", "pop\\nup", "Pop\\x1b[2Jup"],
    ]


def test_another_hash_secret_is_refused(
    warehouse_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(warehouse_url, "shops", "list")  # any command creates one
    monkeypatch.setenv("HASH_SECRET", "another than the one that was created")
    refused = invoke(warehouse_url, *ADD, status=1)
    (line,) = refused.output.splitlines()
    assert line.startswith("Error: HASH_SECRET is not the secret with which this warehouse hashes")
    monkeypatch.delenv("HASH_SECRET")
    assert invoke(warehouse_url, *ADD).stdout == "added n.example\n", "nothing was added before"
