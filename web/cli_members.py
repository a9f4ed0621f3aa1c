"""The commands `members ...` and `audit`."""

import sys
from typing import Any

import click
import orjson

from warehouse.days import iso_millis
from warehouse.settings import public_url
from warehouse.vocabulary import PERMISSIONS
from web import audit as trail
from web import keys
from web.app import wall_clock
from web.audit import OPERATOR
from web.command import Email, Words, shown_time, warehouse, writing
from web.members import accounts, passwords

_shop = click.option("--shop", required=True, help="The shop of the member.")
_email = click.option("--email", required=True, type=Email(), help="The member's address.")
_permissions = click.option(
    "--permissions",
    required=True,
    type=Words("permission", PERMISSIONS, may_be_empty=True),
    help=f'{", ".join(PERMISSIONS)}; "" for none',
)


@click.group("members")
def members_group() -> None:
    """Members of shops, who sign in to the settings."""


@members_group.command("add")
@_shop
@_email
@_permissions
def add(shop: str, email: str, permissions: tuple[str, ...]) -> None:
    """Add a member, or enable a disabled one again. Prints a one-time link to set the password,
    alone on the last line, unless they have one."""
    with writing() as connection:
        shop_key = keys.find_shop(connection, shop)
        token = accounts.add(
            connection, shop_key, email, permissions, by=OPERATOR, now=wall_clock()
        )
        pages = _pages()
    if token is None:
        click.echo(f"{email} signs in with the password that they have, at {pages}/sign-in")
    else:
        _show_link(pages, token)


@members_group.command("list")
@click.option("--shop", help="Only this shop's.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_members(shop: str | None, as_json: bool) -> None:
    """List members."""
    with warehouse() as engine, engine.connect() as connection:
        for one in accounts.list_members(connection, shop):
            click.echo(_json(one) if as_json else _line(one))


@members_group.command("set-permissions")
@_shop
@_email
@_permissions
def set_permissions(shop: str, email: str, permissions: tuple[str, ...]) -> None:
    """Put these permissions in the place of a member's; at once."""
    with writing() as connection:
        who = accounts.find(connection, shop, email)
        accounts.set_permissions(connection, who, permissions, by=OPERATOR, now=wall_clock())


@members_group.command("disable")
@_shop
@_email
def disable(shop: str, email: str) -> None:
    """Keep a member out of the shop, at once. Keys that they minted go on working."""
    with writing() as connection:
        who = accounts.find(connection, shop, email)
        accounts.disable(connection, who, by=OPERATOR, now=wall_clock())


@members_group.command("reset-password")
@_shop
@_email
def reset_password(shop: str, email: str) -> None:
    """End a member's password and sign-ins at once; prints a one-time link to set a new one."""
    with writing() as connection:
        who = accounts.find(connection, shop, email)
        token = accounts.reset_password(connection, who, by=OPERATOR, now=wall_clock())
        pages = _pages()
    _show_link(pages, token)


@members_group.command("set-password")
@_shop
@_email
def set_password(shop: str, email: str) -> None:
    """Set a member's password to the line on standard input."""
    password = sys.stdin.readline().rstrip("\r\n")
    objection = passwords.objection(password, email)
    if objection:
        raise click.ClickException(objection)
    password_hash = passwords.hashed(password)
    with writing() as connection:
        member_key = accounts.find(connection, shop, email).member_key
        accounts.set_password(connection, member_key, password_hash, by=OPERATOR, now=wall_clock())


@click.command("audit")
@click.option("--shop", help="Only this shop's.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def audit(shop: str | None, as_json: bool) -> None:
    """List what members and the operator did, newest first."""
    with warehouse() as engine, engine.connect() as connection:
        for entry in trail.entries(connection, shop):
            if as_json:
                click.echo(
                    orjson.dumps(
                        {
                            "at": iso_millis(entry.at),
                            "shopId": entry.shop_id,
                            "who": entry.who,
                            "from": entry.place,
                            "action": entry.action,
                            "what": entry.what,
                        }
                    ).decode()
                )
            else:
                parts = (iso_millis(entry.at), entry.shop_id, entry.who, entry.place)
                click.echo("  ".join((*parts, entry.title, entry.what)).rstrip())


def _pages() -> str:
    return f"{public_url()}/settings"


def _show_link(pages: str, token: str) -> None:
    click.echo("A link to set the password; it works once, within three days:")
    click.echo(f"{pages}/password/{token}")


def _described(one: accounts.Membership) -> dict[str, Any]:
    return {
        "shopId": one.shop_id,
        "email": one.email,
        "permissions": list(one.permissions),
        "state": one.state,
        "createdAt": iso_millis(one.created_at),
        "disabledAt": shown_time(one.disabled_at),
    }


def _json(one: accounts.Membership) -> str:
    return orjson.dumps(_described(one)).decode()


def _line(one: accounts.Membership) -> str:
    permissions = ",".join(one.permissions) or "-"
    return "  ".join((one.shop_id, one.email, one.state, permissions))
