"""`python -m web members ...`, `audit` and `keys rotate`."""

import json
import re
from typing import Any

from click.testing import CliRunner, Result
from sqlalchemy import Engine

from tests.support.shop_builder import ShopBuilder
from web.auth import api_keys
from web.auth.audit import Actor, Change
from web.cli import main

ADA = ("--shop", "example.myshopify.com", "--email", "ada@example.com")


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


def test_each_change_to_a_member(warehouse_url: str, shop: ShopBuilder) -> None:
    added = run(
        warehouse_url, "members", "add", *ADA, "--permissions", "connections:manage,forms:edit"
    )
    assert link(added) == "http://127.0.0.1:8000"
    (ada,) = members(warehouse_url)
    assert re.fullmatch(r"\d{4}-.*Z", ada.pop("createdAt"))
    assert ada == {
        "shopId": shop.shop_id,
        "email": "ada@example.com",
        "permissions": ["forms:edit", "connections:manage"],
        "isOperator": False,
        "state": "invited",
        "disabledAt": None,
    }
    password = "correct horse battery\n"
    done = run(warehouse_url, "members", "set-password", *ADA, stdin=password)
    assert (done.exit_code, done.output) == (0, "")
    assert members(warehouse_url)[0]["state"] == "active"
    assert (
        run(warehouse_url, "members", "set-permissions", *ADA, "--permissions", "").exit_code == 0
    )
    assert members(warehouse_url)[0]["permissions"] == []
    reset = run(
        warehouse_url, "members", "reset-password", *ADA, PUBLIC_URL="https://stats.example/"
    )
    assert link(reset) == "https://stats.example"
    assert members(warehouse_url)[0]["state"] == "invited"
    assert run(warehouse_url, "members", "disable", *ADA).exit_code == 0
    (ada,) = members(warehouse_url, "--shop", shop.shop_id)
    assert ada["state"] == "disabled"
    assert ada["disabledAt"]
    header, line = run(warehouse_url, "members", "list").stdout.splitlines()
    assert header.split() == ["SHOP", "E-MAIL", "STATE", "OPERATOR", "PERMISSIONS"]
    assert line.split() == [shop.shop_id, "ada@example.com", "disabled", "-", "-"]
    assert members(warehouse_url, "--shop", "other") == []
    # Adding a disabled member enables them.
    link(run(warehouse_url, "members", "add", *ADA, "--permissions", "forms:edit"))
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
    assert {(line["actor"], line["sourceIp"]) for line in lines} == {("operator", "command line")}
    assert set(lines[0]) == {"at", "shopId", "actor", "sourceIp", "action", "detail", "times"}
    plain = run(warehouse_url, "audit").stdout.splitlines()
    assert len(plain) == 6
    assert "Disabled a member  ada@example.com" in plain[1]
    assert run(warehouse_url, "audit", "--shop", "other").stdout == ""


def test_deleted_member(warehouse_url: str, shop: ShopBuilder, engine: Engine) -> None:
    """Nothing keeps the address; another person's, of which it is the end, stays."""
    granda = ("--shop", shop.shop_id, "--email", "granda@example.com")
    for person in (ADA, granda):
        link(run(warehouse_url, "members", "add", *person, "--permissions", ""))
    with engine.begin() as connection:
        by_ada = Change(connection, Actor("ada@example.com", "192.0.2.1"), 1_770_000_000_000_000)
        api_keys.mint(by_ada, shop.shop_id, ["analytics:read"], name="Till", expires_at=None)
    done = run(warehouse_url, "members", "delete", "--email", "ada@example.com")
    assert (done.exit_code, done.stdout) == (
        0,
        f"deleted ada@example.com, who was a member of {shop.shop_id}\n",
    )
    assert [each["email"] for each in members(warehouse_url)] == ["granda@example.com"]
    [key] = run(warehouse_url, "keys", "list", "--json").stdout.splitlines()
    assert json.loads(key)["createdBy"] == "deleted member 1"
    trail = [json.loads(line) for line in run(warehouse_url, "audit", "--json").stdout.splitlines()]
    assert [(event["actor"], event["detail"]) for event in trail if "deleted" in str(event)] == [
        ("operator", "deleted member 1"),
        ("deleted member 1", trail[1]["detail"]),
        ("operator", "deleted member 1: no permissions"),
    ]
    assert '"ada@' not in json.dumps(trail)
    assert sum("granda@example.com" in event["detail"] for event in trail) == 1
    again = run(warehouse_url, "members", "delete", "--email", "ada@example.com")
    assert (again.exit_code, again.stderr) == (
        1,
        "Error: there is no member 'ada@example.com'; `members list` shows all of them\n",
    )


def test_sign_in_link(warehouse_url: str, shop: ShopBuilder) -> None:
    run(warehouse_url, "members", "add", *ADA, "--permissions", "")
    made = ("members", "sign-in-link", *ADA)
    done = run(warehouse_url, *made, PUBLIC_URL="https://stats.example/")
    address = r"https://stats\.example/settings/sign-in/[\w-]{43}"
    assert (done.exit_code, done.stderr) == (0, "")
    assert re.fullmatch(address, done.stdout.splitlines()[-1])
    assert run(warehouse_url, *made).stdout != done.stdout
    run(warehouse_url, "members", "disable", *ADA)
    refused = run(warehouse_url, *made)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == (
        "Error: 'ada@example.com' is disabled in the shop; `members add` enables them again\n"
    )
    trail = run(warehouse_url, "audit", "--json").stdout.splitlines()
    actions = [json.loads(line)["action"] for line in trail]
    assert actions == ["member_disabled", *["sign_in_link_created"] * 2, "member_added"]


def test_member_of_a_second_shop_keeps_their_password(
    warehouse_url: str, engine: Engine, shop: ShopBuilder
) -> None:
    ShopBuilder(engine, "other.myshopify.com")
    link(run(warehouse_url, "members", "add", *ADA, "--permissions", ""))
    run(warehouse_url, "members", "set-password", *ADA, stdin="correct horse battery\n")
    second = ("--shop", "other.myshopify.com", "--email", "ADA@example.com")
    done = run(warehouse_url, "members", "add", *second, "--permissions", "forms:edit")
    assert done.exit_code == 0
    assert "with their current password" in done.stdout
    assert [member["state"] for member in members(warehouse_url)] == ["active", "active"]


def test_failures_and_wrong_usage(warehouse_url: str, shop: ShopBuilder) -> None:
    run(warehouse_url, "members", "add", *ADA, "--permissions", "")
    nobody = ("--shop", shop.shop_id, "--email", "nobody@example.com")
    for arguments, status in (
        (["add", *ADA, "--permissions", "forms:edit"], 1),
        (["add", "--shop", "none", *ADA[2:], "--permissions", "forms:edit"], 1),
        (["add", *ADA, "--permissions", "everything"], 2),
        (["add", *ADA, "--permissions", "forms:edit,"], 2),
        (["add", *ADA], 2),
        (["add", *ADA[:2], "--email", "ada", "--permissions", ""], 2),
        (["add", *ADA[:2], "--email", "a b@example.com", "--permissions", ""], 2),
        (["disable", *nobody], 1),
        (["reset-password", *nobody], 1),
        (["sign-in-link", *nobody], 1),
        (["set-permissions", *nobody, "--permissions", ""], 1),
        (["set-password", *nobody], 1),
        (["set-password", *ADA], 1),
        ([], 2),
    ):
        done = run(warehouse_url, "members", *arguments, stdin="short\n")
        assert (done.exit_code, done.stdout) == (status, ""), arguments
        if status == 1:
            assert re.fullmatch(r"Error: .+\n", done.stderr), arguments
    wrong = run(warehouse_url, "members", "reset-password", *ADA, PUBLIC_URL="stats.example")
    assert wrong.exit_code == 2
    assert re.fullmatch(r"Error: PUBLIC_URL.+\n", wrong.stderr)


def test_rotate(warehouse_url: str, engine: Engine, shop: ShopBuilder) -> None:
    old = shop.mint("analytics:read")
    with engine.connect() as connection:
        (key,) = api_keys.list_keys(connection)
    rotate = ("keys", "rotate", key.credential_id)
    done = run(warehouse_url, *rotate, "--old-works", "now", "--expires", "2099-12-31")
    new = done.stdout.splitlines()[-1]
    assert (done.exit_code, new == old) == (0, False)
    listed = run(warehouse_url, "keys", "list", "--json").stdout
    first, second = map(json.loads, listed.splitlines())
    assert (first["state"], first["replacedBy"]) == ("expired", second["credentialId"])
    assert (second["state"], second["scopes"]) == ("active", ["analytics:read"])
    assert second["expiresAt"] == "2100-01-01T00:00:00.000Z"
    _, *lines = run(warehouse_url, "keys", "list").stdout.splitlines()
    assert [line.split()[4] for line in lines] == [first["expiresAt"], second["expiresAt"]]
    again = run(warehouse_url, *rotate)
    assert again.exit_code == 1
    assert re.fullmatch(r"Error: the key '.+' cannot be rotated: .+\n", again.stderr)
    assert run(warehouse_url, "keys", "rotate", "cred_0").exit_code == 1
    assert run(warehouse_url, *rotate, "--old-works", "1y").exit_code == 2
    actions = run(warehouse_url, "audit").stdout
    assert actions.count("Rotated a key") == 1
