"""`python -m web members ...`, `audit` and `keys rotate`."""

import json
import re
from typing import Any

from click.testing import CliRunner, Result
from sqlalchemy import Engine

from tests.web.builders import ShopBuilder
from web import keys
from web.cli import main

WHO = ("--shop", "example.myshopify.com", "--email", "ada@example.com")


def run(url: str, *arguments: str, stdin: str = "", **environment: str) -> Result:
    return CliRunner().invoke(
        main, list(arguments), input=stdin, env={"WAREHOUSE_URL": url, **environment}
    )


def members(url: str, *arguments: str) -> list[dict[str, Any]]:
    listed = run(url, "members", "list", "--json", *arguments).stdout
    return [json.loads(line) for line in listed.splitlines()]


def link(done: Result) -> str:
    assert done.exit_code == 0, done.output
    found = re.fullmatch(r"(\S+)/settings/password/[\w-]{43}", done.stdout.splitlines()[-1])
    assert found, done.stdout
    return found[1]


def test_a_member_from_the_first_link_to_the_end(warehouse_url: str, shop: ShopBuilder) -> None:
    added = run(
        warehouse_url, "members", "add", *WHO, "--permissions", "connections:manage,forms:edit"
    )
    assert link(added) == "http://127.0.0.1:8000"
    (ada,) = members(warehouse_url)
    assert re.fullmatch(r"\d{4}-.*Z", ada.pop("createdAt"))
    assert ada == {
        "shopId": shop.shop_id,
        "email": "ada@example.com",
        "permissions": ["forms:edit", "connections:manage"],
        "state": "invited",
        "disabledAt": None,
    }
    password = "correct horse battery\n"
    done = run(warehouse_url, "members", "set-password", *WHO, stdin=password)
    assert (done.exit_code, done.output) == (0, "")
    assert members(warehouse_url)[0]["state"] == "active"
    assert (
        run(warehouse_url, "members", "set-permissions", *WHO, "--permissions", "").exit_code == 0
    )
    assert members(warehouse_url)[0]["permissions"] == []
    reset = run(
        warehouse_url, "members", "reset-password", *WHO, PUBLIC_URL="https://stats.example/"
    )
    assert link(reset) == "https://stats.example"
    assert members(warehouse_url)[0]["state"] == "invited"
    assert run(warehouse_url, "members", "disable", *WHO).exit_code == 0
    (ada,) = members(warehouse_url, "--shop", shop.shop_id)
    assert ada["state"] == "disabled"
    assert ada["disabledAt"]
    shown = run(warehouse_url, "members", "list").stdout
    assert shown.split() == [shop.shop_id, "ada@example.com", "disabled", "-"]
    assert members(warehouse_url, "--shop", "other") == []
    # Added again, a disabled member comes back.
    link(run(warehouse_url, "members", "add", *WHO, "--permissions", "forms:edit"))
    assert members(warehouse_url)[0]["permissions"] == ["forms:edit"]
    trail = run(warehouse_url, "audit", "--shop", shop.shop_id, "--json").stdout.splitlines()
    lines = [json.loads(line) for line in trail]
    assert [line["action"] for line in lines] == [
        "member_added",
        "member_disabled",
        "password_reset",
        "permissions_set",
        "password_set",
        "member_added",
    ]
    assert {(line["who"], line["from"]) for line in lines} == {("operator", "command line")}
    assert set(lines[0]) == {"at", "shopId", "who", "from", "action", "what"}
    plain = run(warehouse_url, "audit").stdout.splitlines()
    assert len(plain) == 6
    assert "Disabled a member  ada@example.com" in plain[1]
    assert run(warehouse_url, "audit", "--shop", "other").stdout == ""


def test_a_member_of_a_second_shop_keeps_their_password(
    warehouse_url: str, engine: Engine, shop: ShopBuilder
) -> None:
    ShopBuilder(engine, "other.myshopify.com")
    link(run(warehouse_url, "members", "add", *WHO, "--permissions", ""))
    run(warehouse_url, "members", "set-password", *WHO, stdin="correct horse battery\n")
    second = ("--shop", "other.myshopify.com", "--email", "ADA@example.com")
    done = run(warehouse_url, "members", "add", *second, "--permissions", "forms:edit")
    assert done.exit_code == 0
    assert "the password that they have" in done.stdout
    assert [member["state"] for member in members(warehouse_url)] == ["active", "active"]


def test_failures_and_wrong_usage(warehouse_url: str, shop: ShopBuilder) -> None:
    run(warehouse_url, "members", "add", *WHO, "--permissions", "")
    nobody = ("--shop", shop.shop_id, "--email", "nobody@example.com")
    for arguments, status in (
        (["add", *WHO, "--permissions", "forms:edit"], 1),
        (["add", "--shop", "none", *WHO[2:], "--permissions", "forms:edit"], 1),
        (["add", *WHO, "--permissions", "everything"], 2),
        (["add", *WHO, "--permissions", "forms:edit,"], 2),
        (["add", *WHO], 2),
        (["add", *WHO[:2], "--email", "ada", "--permissions", ""], 2),
        (["add", *WHO[:2], "--email", "a b@example.com", "--permissions", ""], 2),
        (["disable", *nobody], 1),
        (["reset-password", *nobody], 1),
        (["set-permissions", *nobody, "--permissions", ""], 1),
        (["set-password", *nobody], 1),
        (["set-password", *WHO], 1),
        ([], 2),
    ):
        done = run(warehouse_url, "members", *arguments, stdin="short\n")
        assert (done.exit_code, done.stdout) == (status, ""), arguments
        if status == 1:
            assert re.fullmatch(r"Error: .+\n", done.stderr), arguments
    wrong = run(warehouse_url, "members", "reset-password", *WHO, PUBLIC_URL="stats.example")
    assert wrong.exit_code == 1
    assert re.fullmatch(r"Error: PUBLIC_URL.+\n", wrong.stderr)


def test_rotate(warehouse_url: str, engine: Engine, shop: ShopBuilder) -> None:
    old = shop.mint("analytics:read")
    with engine.connect() as connection:
        (key,) = keys.list_keys(connection)
    rotate = ("keys", "rotate", key.credential_id)
    done = run(warehouse_url, *rotate, "--old-works", "now", "--expires", "2099-12-31")
    new = done.stdout.splitlines()[-1]
    assert (done.exit_code, new == old) == (0, False)
    listed = run(warehouse_url, "keys", "list", "--json").stdout
    first, second = map(json.loads, listed.splitlines())
    assert (first["state"], first["replacedBy"]) == ("expired", second["credentialId"])
    assert (second["state"], second["scopes"]) == ("active", ["analytics:read"])
    assert second["expiresAt"] == "2100-01-01T00:00:00.000Z"
    again = run(warehouse_url, *rotate)
    assert again.exit_code == 1
    assert re.fullmatch(r"Error: .+ is not active, or was rotated\n", again.stderr)
    assert run(warehouse_url, "keys", "rotate", "cred_0").exit_code == 1
    assert run(warehouse_url, *rotate, "--old-works", "1y").exit_code == 2
    actions = run(warehouse_url, "audit").stdout
    assert actions.count("Rotated a key") == 1
