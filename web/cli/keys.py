"""The commands `keys ...`."""

from pathlib import Path
from typing import Any

import click

from warehouse.domain.vocabulary import SCOPES
from web.auth import api_keys
from web.auth.api_key_format import is_well_formed
from web.cli.options import (
    ChoiceList,
    EndOfDay,
    as_operator,
    format_instant,
    json_flag,
    open_warehouse,
    print_json,
    print_table,
    shop_filter,
    transaction,
)
from web.clock import wall_clock

_HEADER = ("CREDENTIAL", "SHOP", "KEY", "STATE", "SCOPES", "LAST USED", "NAME")


@click.group()
def keys() -> None:
    """Create, list, rotate and revoke API keys."""


@keys.command("mint")
@click.option("--shop", required=True, help="The shop whose data the key opens.")
@click.option(
    "--scopes",
    type=ChoiceList("scope", SCOPES),
    required=True,
    help=f"Comma-separated, from: {', '.join(SCOPES)}.",
)
@click.option("--name", default="", help="The tool or person that uses the key.")
@click.option("--expires", type=EndOfDay(), help="Last day (UTC) on which the key works.")
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the key in this file, for its user alone. While the key in it works, it is printed "
    "instead of a new one.",
)
def mint(
    shop: str, scopes: tuple[str, ...], name: str, expires: int | None, file: Path | None
) -> None:
    """Create a key. It is printed alone on the last line, and never shown again."""
    change = as_operator()
    with transaction() as connection:
        key = _read_key(file) if file else ""
        if not key or not api_keys.opens(connection, key, shop, scopes, change["now"]):
            key = api_keys.mint(connection, shop, scopes, name=name, **change, expires_at=expires)
            if file:
                _write_private(file, key)
    click.echo(key)


@keys.command("list")
@shop_filter
@json_flag
def list_keys(shop: str | None, as_json: bool) -> None:
    """List keys: their first characters, state, scopes and last use."""
    now = wall_clock()
    with open_warehouse(creates=False) as engine, engine.connect() as connection:
        listed = api_keys.list_keys(connection, shop)
    if as_json:
        print_json(_json_row(key, now) for key in listed)
    else:
        print_table(_HEADER, [_table_row(key, now) for key in listed])


@keys.command("revoke")
@click.argument("credential_id")
def revoke(credential_id: str) -> None:
    """Revoke a key. It stops working at once."""
    with transaction() as connection:
        api_keys.revoke(connection, credential_id, **as_operator())


@keys.command("rotate")
@click.argument("credential_id")
@click.option(
    "--old-works",
    type=click.Choice(list(api_keys.GRACE_PERIODS)),
    default="24h",
    show_default=True,
    help="How much longer the old key works.",
)
@click.option("--expires", type=EndOfDay(), help="Last day (UTC) on which the new key works.")
def rotate(credential_id: str, old_works: str, expires: int | None) -> None:
    """Replace a key by a new one with the same name and scopes. The new key is printed alone on the
    last line, and never shown again."""
    with transaction() as connection:
        key = api_keys.rotate(
            connection,
            credential_id,
            **as_operator(),
            grace=api_keys.GRACE_PERIODS[old_works],
            expires_at=expires,
        )
    click.echo(key)


def _read_key(file: Path) -> str:
    """The key in a file, "" where there is none. Any other content is not ours to replace."""
    text = file.read_text("utf-8", "replace").strip() if file.exists() else ""
    if text and not is_well_formed(text):
        raise click.ClickException(f"{file} holds no key; name another file")
    return text


def _write_private(file: Path, text: str) -> None:
    """Put a file that only its user may read in the place of what is there."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = file.with_name(f"{file.name}.new")
    partial.unlink(missing_ok=True)
    partial.touch(mode=0o600, exist_ok=False)
    partial.write_text(f"{text}\n", "utf-8")
    partial.replace(file)


def _json_row(key: api_keys.ApiKey, now: int) -> dict[str, Any]:
    return {
        "credentialId": key.credential_id,
        "shopId": key.shop_id,
        "name": key.name,
        "hint": key.hint,
        "scopes": list(key.scopes),
        "state": key.state(now),
        "createdBy": key.created_by,
        "createdAt": format_instant(key.created_at),
        "expiresAt": format_instant(key.expires_at),
        "revokedAt": format_instant(key.revoked_at),
        "lastUsedAt": format_instant(key.last_used_at),
        "replacedBy": key.replaced_by or None,
    }


def _table_row(key: api_keys.ApiKey, now: int) -> tuple[str, ...]:
    return (
        key.credential_id,
        key.shop_id,
        f"{key.hint}…",
        key.state(now),
        ",".join(key.scopes),
        format_instant(key.last_used_at) or "never",
        key.name,
    )
