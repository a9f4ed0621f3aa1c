"""The commands `members ...` and `audit`."""

import sys
from collections.abc import Iterator, Sequence

import click
from sqlalchemy import Connection

from warehouse.domain.time import iso_millis
from warehouse.domain.vocabulary import PERMISSIONS
from warehouse.settings import public_url
from web.auth import api_keys, one_time_links, operators, passwords
from web.auth import audit as trail
from web.auth import members as accounts
from web.cli.options import ByRule, ChoiceList, Listed, listing, table, transaction

_ADDRESS = ByRule("email", accounts.normalize_email)
_shop = click.option("--shop", required=True, help="The shop of the member.")
_email = click.option("--email", required=True, type=_ADDRESS, help="The member's e-mail address.")
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
    with transaction() as change:
        shop_key = api_keys.find_shop_key(change.connection, shop)
        token = accounts.add(change, shop_key, email, permissions)
        # Read inside the transaction: with a wrong setting, nothing is added.
        pages = _pages_url()
    if token is None:
        click.echo(f"{email} can sign in with their current password at {pages}/sign-in")
    else:
        _print_link(pages, token)


@members.command("add-operator")
@_email
def add_operator(email: str) -> None:
    """Let a person add shops on the pages, each with all permissions in it. A person without a shop or a
    password gets a one-time link to set a password and, where they have none, to add their first shop; it is
    printed alone on the last line."""
    with transaction() as change:
        token = operators.add(change, email)
        pages = _pages_url()
    if token is None:
        click.echo(f"{email} can add shops at {public_url()}/setup")
    else:
        _print_link(pages, token)


@members.command("first-link")
def first_link() -> None:
    """Print a link with which the first member begins, who gives their address and may add shops. It works
    for a day, until somebody has a password. Where somebody has, there is none: nothing is printed."""
    with transaction() as change:
        token = one_time_links.create_first(change)
        pages = _pages_url()
    if token is not None:
        click.echo(
            "Nobody can sign in yet. Begin with this link, within a day; keep it to yourself:"
        )
        click.echo(f"{pages}/first/{token}")


@members.command("remove-operator")
@_email
def remove_operator(email: str) -> None:
    """Let a person add no more shops, at once. They stay a member of theirs."""
    with transaction() as change:
        operators.remove(change, email)


@listing(
    members.command("list"),
    "shop_id email permissions is_operator state created_at disabled_at",
    table(
        "SHOP shop_id, E-MAIL email, STATE state, OPERATOR is_operator, PERMISSIONS permissions",
        is_operator="-",
        permissions="-",
    ),
)
def list_members(connection: Connection, shop: str | None) -> Iterator[Listed]:
    """List members: their state, their permissions, and whether they may add shops."""
    for member in accounts.list_members(connection, shop):
        yield {**member._mapping, "is_operator": member.adds_shops}


@members.command("set-permissions")
@_shop
@_email
@_permissions
def set_permissions(shop: str, email: str, permissions: tuple[str, ...]) -> None:
    """Replace the permissions of a member, at once."""
    with transaction() as change:
        member = accounts.find(change.connection, shop, email)
        accounts.set_permissions(change, member, permissions)


@members.command("disable")
@_shop
@_email
def disable(shop: str, email: str) -> None:
    """Keep a member out of the shop, at once. The keys that they created keep working."""
    with transaction() as change:
        member = accounts.find(change.connection, shop, email)
        accounts.disable(change, member)


@members.command("delete")
@_email
def delete(email: str) -> None:
    """Delete a person from all shops, with their address, at once. The keys that they created keep working.
    `audit` and `keys list` name them by a number from then on."""
    with transaction() as change:
        shops = accounts.delete(change, email)
    click.echo(f"deleted {email}, who was a member of {', '.join(shops) or 'no shop'}")


@members.command("reset-password")
@_shop
@_email
def reset_password(shop: str, email: str) -> None:
    """Remove a member's password. They are signed out everywhere at once. A one-time link to set a new
    password is printed alone on the last line."""
    with transaction() as change:
        member = accounts.find(change.connection, shop, email)
        token = accounts.reset_password(change, member)
        pages = _pages_url()
    _print_link(pages, token)


@members.command("sign-in-link")
@_shop
@_email
def sign_in_link(shop: str, email: str) -> None:
    """Print a link that signs a member in to the shop without a password. It works once, within an hour;
    a new one ends the previous one. It is printed alone on the last line."""
    with transaction() as change:
        member = accounts.find(change.connection, shop, email)
        token = accounts.create_sign_in_link(change, member)
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
    with transaction() as change:
        member_key = accounts.find(change.connection, shop, email).member_key
        accounts.set_password(change, member_key, password_hash)


def _print_events(events: Sequence[Listed]) -> None:
    for event in events:
        who = (event["shop_id"], event["actor"], event["source_ip"])
        click.echo(
            "  ".join((iso_millis(event["at"]), *who, event["title"], event["detail"])).rstrip()
        )


@listing(click.command("audit"), "at shop_id actor source_ip action detail times", _print_events)
def audit(connection: Connection, shop: str | None) -> Iterator[Listed]:
    """List sign-ins and changes to keys and members, newest first."""
    for event in trail.list_events(connection, shop):
        yield {**event._mapping, "title": trail.title(event)}


def _pages_url() -> str:
    return f"{public_url()}/settings"


def _print_link(pages: str, token: str) -> None:
    click.echo(
        "The member sets a password with this link. It works once, within three days; one from before no "
        "longer does:"
    )
    click.echo(f"{pages}/password/{token}")
