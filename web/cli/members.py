"""The commands `members ...` and `audit`."""

import sys
from typing import Any

import click

from warehouse.domain.time import iso_millis
from warehouse.domain.vocabulary import PERMISSIONS
from warehouse.settings import public_url
from web.auth import api_keys, operators, passwords
from web.auth import audit as trail
from web.auth import members as accounts
from web.cli.options import (
    ChoiceList,
    Email,
    as_operator,
    format_instant,
    json_flag,
    open_warehouse,
    print_json,
    print_table,
    shop_filter,
    transaction,
)

_HEADER = ("SHOP", "E-MAIL", "STATE", "OPERATOR", "PERMISSIONS")

_shop = click.option("--shop", required=True, help="The shop of the member.")
_email = click.option("--email", required=True, type=Email(), help="The member's e-mail address.")
_permissions = click.option(
    "--permissions",
    required=True,
    type=ChoiceList("permission", PERMISSIONS, may_be_empty=True),
    help=f'Comma-separated, from: {", ".join(PERMISSIONS)}; "" for none.',
)


@click.group()
def members() -> None:
    """Manage the members of shops, who sign in to the pages."""


@members.command("add")
@_shop
@_email
@_permissions
def add(shop: str, email: str, permissions: tuple[str, ...]) -> None:
    """Add a member, or enable a disabled member again. A member without a password gets a one-time
    link to set one; it is printed alone on the last line."""
    with transaction() as connection:
        shop_key = api_keys.find_shop_key(connection, shop)
        token = accounts.add(connection, shop_key, email, permissions, **as_operator())
        # Read inside the transaction: with a wrong setting, nothing is added.
        pages = _pages_url()
    if token is None:
        click.echo(f"{email} can sign in with their present password at {pages}/sign-in")
    else:
        _print_link(pages, token)


@members.command("add-operator")
@_email
def add_operator(email: str) -> None:
    """Let a person add shops on the pages, each with all permissions in it. A person without a shop or a
    password gets a one-time link to set a password and, where they have none, to add their first shop; it is
    printed alone on the last line."""
    with transaction() as connection:
        token = operators.add(connection, email, **as_operator())
        pages = _pages_url()
    if token is None:
        click.echo(f"{email} can add shops at {public_url()}/setup")
    else:
        _print_link(pages, token)


@members.command("remove-operator")
@_email
def remove_operator(email: str) -> None:
    """Let a person add no more shops, at once. They stay a member of theirs."""
    with transaction() as connection:
        operators.remove(connection, email, **as_operator())


@members.command("list")
@shop_filter
@json_flag
def list_members(shop: str | None, as_json: bool) -> None:
    """List members: their state, their permissions, and whether they may add shops."""
    with open_warehouse(creates=False) as engine, engine.connect() as connection:
        listed = accounts.list_members(connection, shop)
    if as_json:
        print_json(map(_json_row, listed))
    else:
        rows = [
            (
                *(member.shop_id, member.email, member.state),
                "yes" if member.adds_shops else "-",
                ",".join(member.permissions) or "-",
            )
            for member in listed
        ]
        print_table(_HEADER, rows)


@members.command("set-permissions")
@_shop
@_email
@_permissions
def set_permissions(shop: str, email: str, permissions: tuple[str, ...]) -> None:
    """Replace the permissions of a member, at once."""
    with transaction() as connection:
        member = accounts.find(connection, shop, email)
        accounts.set_permissions(connection, member, permissions, **as_operator())


@members.command("disable")
@_shop
@_email
def disable(shop: str, email: str) -> None:
    """Keep a member out of the shop, at once. The keys that they created keep working."""
    with transaction() as connection:
        member = accounts.find(connection, shop, email)
        accounts.disable(connection, member, **as_operator())


@members.command("reset-password")
@_shop
@_email
def reset_password(shop: str, email: str) -> None:
    """Remove a member's password. They are signed out everywhere at once. A one-time link to set a new
    password is printed alone on the last line."""
    with transaction() as connection:
        member = accounts.find(connection, shop, email)
        token = accounts.reset_password(connection, member, **as_operator())
        pages = _pages_url()
    _print_link(pages, token)


@members.command("sign-in-link")
@_shop
@_email
def sign_in_link(shop: str, email: str) -> None:
    """Print a link that signs a member in to the shop without a password. It works once, within an hour;
    a new one ends the previous one. It is printed alone on the last line."""
    with transaction() as connection:
        member = accounts.find(connection, shop, email)
        token = accounts.create_sign_in_link(connection, member, **as_operator())
        pages = _pages_url()
    click.echo("The button behind this link signs the member in. It works once, within an hour:")
    click.echo(f"{pages}/sign-in/{token}")


@members.command("set-password")
@_shop
@_email
def set_password(shop: str, email: str) -> None:
    """Set a member's password. It is read from the first line of standard input."""
    password = sys.stdin.readline().rstrip("\r\n")
    objection = passwords.objection_to_length(password)
    if objection:
        raise click.ClickException(objection)
    try:
        passwords.require_strong(password, [email, shop])
    except passwords.Weak as error:
        raise click.ClickException(str(error)) from None
    # Hashing takes long, and a transaction that writes keeps others waiting.
    password_hash = passwords.hash_password(password)
    with transaction() as connection:
        member_key = accounts.find(connection, shop, email).member_key
        accounts.set_password(connection, member_key, password_hash, **as_operator())


@click.command()
@shop_filter
@json_flag
def audit(shop: str | None, as_json: bool) -> None:
    """List sign-ins and changes to keys and members, newest first."""
    with open_warehouse(creates=False) as engine, engine.connect() as connection:
        events = trail.list_events(connection, shop)
    if as_json:
        print_json(map(_json_event, events))
        return
    for event in events:
        columns = (iso_millis(event.at), event.shop_id, event.actor, event.source_ip)
        click.echo("  ".join((*columns, event.title, event.detail)).rstrip())


def _pages_url() -> str:
    return f"{public_url()}/settings"


def _print_link(pages: str, token: str) -> None:
    click.echo("The member sets a password with this link. It works once, within three days:")
    click.echo(f"{pages}/password/{token}")


def _json_row(member: accounts.Member) -> dict[str, Any]:
    return {
        "shopId": member.shop_id,
        "email": member.email,
        "permissions": list(member.permissions),
        "isOperator": member.adds_shops,
        "state": member.state,
        "createdAt": format_instant(member.created_at),
        "disabledAt": format_instant(member.disabled_at),
    }


def _json_event(event: trail.AuditEvent) -> dict[str, Any]:
    return {
        "at": format_instant(event.at),
        "shopId": event.shop_id,
        "actor": event.actor,
        "sourceIp": event.source_ip,
        "action": event.action,
        "detail": event.detail,
        "times": event.times,
    }
