"""A deleted shop is gone at once and wholly, whatever table its rows are in, and the others stay."""

import os
import pty
from typing import Any

import pytest
from sqlalchemy import Table, insert

from tests.support.any_row import any_row
from tests.support.commands import start
from tests.warehouse.tenants.conftest import CommandProduct, Rows, Tenants
from warehouse.connections import chunks
from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.connections.engine import open_engine
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.tables.base import metadata
from warehouse.tenants.deletion import finish_deletions

# Tables of no shop and no edition. Members and what is theirs alone: by their memberships.
SHARED = {
    *(
        "exchange_rate",
        "exchange_rate_version",
        "collector",
        "job_run",
        "secret",
        "rate_bucket",
        "scheduler",
        "zone_rules",
    ),
    *("member", "form_creation"),
}
MARK = "left-by-the-shop"


def own_rows(tenants: Tenants, table: Table, shop_key: int, edition: int) -> Rows:
    shop_id = next(iter(tenants.world.casts))
    if "shop_key" in table.c:
        return tenants.records(f"SELECT * FROM {table.name} WHERE shop_key = {shop_key}")
    if "edition" in table.c:
        return tenants.records(f"SELECT * FROM {table.name} WHERE edition = {edition}")
    if "shop_id" in table.c:
        return tenants.records(f"SELECT * FROM {table.name} WHERE shop_id = '{shop_id}'")
    assert table.name in SHARED, f"{table.name}: how is a shop's row in it deleted?"
    return []


def fill(tenants: Tenants, shop_key: int, edition: int) -> None:
    """A row of the shop in every table that has none yet."""
    engine = open_engine(tenants.product.url)
    with engine.connect().execution_options(writes=True) as connection:
        for table in metadata.sorted_tables:
            if table.name in {*SHARED, "deleted_shop"}:
                continue
            if not own_rows(tenants, table, shop_key, edition):
                given: dict[str, Any] = {"shop_key": shop_key, "edition": edition}
                if "shop_key" not in table.c:
                    given["shop_id"] = next(iter(tenants.world.casts))
                row = any_row(table, MARK, **given)
                connection.execute(insert(table), row)
        connection.commit()


@pytest.fixture
def filled(tenants: Tenants) -> tuple[Tenants, str, int, int]:
    """Tenants, the id of a shop that has rows in every table, its key, its edition."""
    shop_id = next(iter(tenants.world.casts))
    (row,) = tenants.records(f"SELECT shop_key, edition FROM shop WHERE shop_id = '{shop_id}'")
    fill(tenants, row["shop_key"], row["edition"])
    return tenants, shop_id, row["shop_key"], row["edition"]


def left(tenants: Tenants, shop_key: int, edition: int) -> dict[str, Rows]:
    found = {
        table.name: own_rows(tenants, table, shop_key, edition) for table in metadata.sorted_tables
    }
    return {name: rows for name, rows in found.items() if rows}


def test_nothing_of_a_deleted_shop_is_left(filled: tuple[Tenants, str, int, int]) -> None:
    tenants, shop_id, shop_key, edition = filled
    every = {table.name for table in metadata.sorted_tables} - SHARED - {"deleted_shop"}
    assert left(tenants, shop_key, edition).keys() == every
    others = [other for other in tenants.world.casts if other != shop_id]
    before = tenants.answers(*others)
    assert tenants.shops("delete", shop_id, "--yes").stdout == f"deleted {shop_id}\n"
    assert left(tenants, shop_key, edition).keys() == {"deleted_shop"}
    for table in metadata.sorted_tables:
        if table.name not in ("deleted_shop", "audit_event"):
            stored = tenants.records(f"SELECT * FROM {table.name}")
            texts = [str(value) for row in stored for value in row.values()]
            assert not [one for one in texts if MARK in one or shop_id in one], table.name
    assert tenants.records("SELECT actor, action, detail FROM audit_event WHERE shop_key = 0") == [
        {"actor": "operator", "action": "shop_deleted", "detail": shop_id}
    ]
    assert tenants.answers(*others) == before
    assert tenants.product.verify_all()


def test_a_deleted_shop_is_unknown_and_can_be_added_again(tenants: Tenants) -> None:
    product = tenants.product
    shop_id, other = list(tenants.world.casts)[:2]
    assert product.get("/v1/forms", {}, shop_id)[0] == 200
    tenants.shops("delete", shop_id, "--yes")
    assert product.get("/v1/forms", {}, shop_id)[0] == 401
    assert product.get("/v1/forms", {}, other)[0] == 200
    events = [row for row in tenants.world.records["events"] if row["shop_id"] == shop_id]
    product.load("events", events, rejected=len(events))
    product.rollup()
    (shop,) = (row for row in tenants.world.records["shops"] if row["shop_id"] == shop_id)
    again = ("add", shop_id, "--currency", shop["currency"], "--timezone", shop["timezone"])
    tenants.shops(*again)
    fresh = CommandProduct(product.url)
    fresh.rollup()
    assert fresh.get("/v1/forms", {}, shop_id)[1]["data"] == []
    assert fresh.get("/v1/forms/funnel", {}, shop_id)[1]["data"] == []
    fresh.close()
    # Rows that name the id are the new shop's by now.
    run = f"VALUES ('rollup', '--shop {shop_id}', {2**52}, {2**52})"
    tenants.change(f"INSERT INTO job_run (job, arguments, started_at, ended_at) {run}")
    product.purge()
    assert tenants.records(f"SELECT job FROM job_run WHERE arguments = '--shop {shop_id}'")
    # The key of a deleted shop is never given to another one: a process may still know it.
    keys = tenants.records("SELECT s.shop_key, d.shop_key AS old FROM shop s, deleted_shop d")
    assert all(row["shop_key"] != row["old"] for row in keys)
    tenants.shops("delete", shop_id, "--yes")
    assert len(tenants.records("SELECT * FROM deleted_shop")) == 2
    refused = tenants.shops("delete", shop_id, "--yes", status=1)
    assert f"Error: {shop_id} was deleted before, and nothing of it is left" in refused.output


def test_members_of_another_shop_stay(tenants: Tenants) -> None:
    one, two = list(tenants.world.casts)[:2]
    keys = {row["shop_id"]: row["shop_key"] for row in tenants.records("SELECT * FROM shop")}
    memberships = [(one, 1), (one, 2), (two, 2), (two, 3)]
    tenants.change(
        *(
            f"INSERT INTO member (member_key, email) VALUES ({n}, 'm{n}@x.example')"
            for n in (1, 2, 3)
        ),
        *(
            "INSERT INTO membership (shop_key, member_key, permissions, created_at) "
            f"VALUES ({keys[shop_id]}, {member}, '', 0)"
            for shop_id, member in memberships
        ),
        *(
            "INSERT INTO one_time_link (token_hash, purpose, member_key, expires_at) "
            f"VALUES ('t{n}', 'password', {n}, 0)"
            for n in (1, 2, 3)
        ),
    )
    tenants.shops("delete", one, "--yes")
    assert tenants.records("SELECT member_key FROM member ORDER BY 1") == [
        {"member_key": 2},
        {"member_key": 3},
    ]
    assert len(tenants.records("SELECT * FROM one_time_link")) == 2


def test_records_of_runs_and_rejects_that_name_the_shop_go(tenants: Tenants) -> None:
    columns = "INSERT INTO job_run (job, arguments, error, ended_at) VALUES"
    reject = "INSERT INTO reject (kind, file, line, shop_key, shop_id, text) VALUES ('events', 'f', 1, 0,"
    tenants.change(
        "INSERT INTO shop (shop_id, currency) VALUES ('a.example', 'EUR')",
        f"{columns} ('rollup', '--shop a.example', '', 1), ('rollup', '--shop aa.example', '', 1), "
        "('rollup', '--shop a.example.net', '', 1), ('rollup', '', 'batch 1 of a.example.', 1)",
        f"{reject} 'a.example', '')",
        f"""{reject} '', '{{"shop_id":"a.example"}}')""",
        f"""{reject} '', '{{"shop_id":"aa.example"}}')""",
    )
    tenants.shops("delete", "a.example", "--yes")
    runs = tenants.records("SELECT arguments FROM job_run WHERE arguments LIKE '%a.example%'")
    assert sorted(row["arguments"] for row in runs) == ["--shop a.example.net", "--shop aa.example"]
    assert tenants.records("SELECT * FROM job_run WHERE error <> ''") == []
    assert len(tenants.records("SELECT * FROM reject WHERE kind = 'events'")) == 1


class Killed(BaseException):
    pass


def test_a_deletion_that_was_killed_again_and_again_goes_on_in_the_night(
    filled: tuple[Tenants, str, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    tenants, shop_id, shop_key, edition = filled
    monkeypatch.setattr(chunks, "MAX_DELETED_ROWS", 20)
    commits, commit = 0, ArrowConnection.commit

    def killed(connection: ArrowConnection) -> None:
        nonlocal commits
        commit(connection)
        commits -= 1
        if not commits:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(ArrowConnection, "commit", killed)
        for after in (1, 4, 17, 68):
            commits = after
            with pytest.raises(Killed):
                tenants.shops("delete", shop_id, "--yes")
            assert len(left(tenants, shop_key, edition)) > 2
    assert tenants.product.get("/v1/forms", {}, list(tenants.world.casts)[1])[0] == 200
    tenants.product.purge()
    assert left(tenants, shop_key, edition).keys() == {"deleted_shop"}


def test_what_comes_after_is_deleted_by_the_next_purge(tenants: Tenants) -> None:
    shop_id = next(iter(tenants.world.casts))
    (key,) = tenants.records(f"SELECT shop_key FROM shop WHERE shop_id = '{shop_id}'")
    tenants.shops("delete", shop_id, "--yes")
    tenants.change(f"INSERT INTO sign_in (token_hash, shop_key) VALUES ('late', {key['shop_key']})")
    (deleted,) = tenants.records("SELECT deleted_at FROM deleted_shop")
    with open_arrow(tenants.product.url) as connection:
        finish_deletions(connection, deleted["deleted_at"] + MICROS_PER_DAY)
        assert connection.value("SELECT COUNT(*) FROM sign_in") == 0
        assert connection.value("SELECT COUNT(*) FROM deleted_shop") == 1
        connection.commit()
        finish_deletions(connection, deleted["deleted_at"] + MICROS_PER_DAY + 1)
        assert connection.value("SELECT COUNT(*) FROM deleted_shop") == 0


def test_what_cannot_be_deleted_is_said_in_one_line(tenants: Tenants) -> None:
    unknown = tenants.shops("delete", "no.example", "--yes", status=1)
    assert unknown.stderr == (
        "Error: there is no shop 'no.example'; `python -m web shops list` shows all of them\n"
    )
    shop_id = next(iter(tenants.world.casts))
    refused = tenants.shops("delete", shop_id, status=2)
    assert refused.stderr.splitlines()[-1] == "Error: without a terminal to ask on, --yes is needed"
    assert tenants.product.get("/v1/forms", {}, shop_id)[0] == 200


def test_a_terminal_is_asked_for_the_id_again(tenants: Tenants) -> None:
    shop_id = next(iter(tenants.world.casts))
    for typed, status, end in (
        ("another", 1, f"Error: 'another' is not {shop_id!r}: nothing was deleted"),
        (shop_id, 0, f"deleted {shop_id}"),
    ):
        terminal, own = pty.openpty()
        words = ("web", "shops", "delete", shop_id)
        process = start(*words, settings={"WAREHOUSE_URL": tenants.product.url}, stdin=own)
        os.write(terminal, f"{typed}\n".encode())
        printed = process.finish(status)
        os.close(terminal)
        os.close(own)
        assert f"This deletes {shop_id} and all its data." in printed
        assert printed.splitlines()[-1].endswith(end)
        assert len(tenants.records(f"SELECT * FROM shop WHERE shop_id = '{shop_id}'")) == status
