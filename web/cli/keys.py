"""The commands `keys ...`."""

from collections.abc import Iterator
from pathlib import Path

import click
from sqlalchemy import Connection

from warehouse.domain.time import now_micros
from warehouse.domain.vocabulary import SCOPES
from web.auth import api_keys
from web.auth.api_key_format import is_well_formed
from web.cli.options import ByRule, ChoiceList, Listed, listing, table, transaction

_DAY = ByRule("day", api_keys.end_of_day)


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
@click.option("--expires", type=_DAY, help="Last day (UTC) on which the key works.")
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
    with transaction() as change:
        key = file.read_text("utf-8", "replace").strip() if file and file.exists() else ""
        if key and not is_well_formed(key):
            # Any other content is not ours to replace.
            raise click.ClickException(f"{file} holds no key; name another file")
        if not key or not api_keys.opens(change.connection, key, shop, scopes, change.now):
            key = api_keys.mint(change, shop, scopes, name=name, expires_at=expires)
            if file:
                _write_private(file, key)
    click.echo(key)


@listing(
    keys.command("list"),
    "credential_id shop_id name hint scopes state created_by created_at expires_at revoked_at last_used_at "
    "replaced_by",
    table(
        "CREDENTIAL credential_id, SHOP shop_id, KEY key, STATE state, ENDS expires_at, SCOPES scopes, "
        "LAST USED last_used_at, NAME name",
        expires_at="never",
        last_used_at="never",
    ),
)
def list_keys(connection: Connection, shop: str | None) -> Iterator[Listed]:
    """List keys: their first characters, state, end, scopes and last use."""
    now = now_micros()
    for key in api_keys.list_keys(connection, shop):
        yield {
            **key._mapping,
            "key": f"{key.hint}…",
            "state": api_keys.status(key, now),
            "replaced_by": key.replaced_by or None,
        }


@keys.command("revoke")
@click.argument("credential_id")
def revoke(credential_id: str) -> None:
    """Revoke a key. It stops working at once."""
    with transaction() as change:
        api_keys.revoke(change, credential_id)


@keys.command("rotate")
@click.argument("credential_id")
@click.option(
    "--old-works",
    type=click.Choice(list(api_keys.GRACE_PERIODS)),
    default="24h",
    show_default=True,
    help="How much longer the old key works.",
)
@click.option("--expires", type=_DAY, help="Last day (UTC) on which the new key works.")
def rotate(credential_id: str, old_works: str, expires: int | None) -> None:
    """Replace a key by a new one with the same name and scopes. The new key is printed alone on the
    last line, and never shown again."""
    with transaction() as change:
        key = api_keys.rotate(
            change, credential_id, grace=api_keys.GRACE_PERIODS[old_works], expires_at=expires
        )
    click.echo(key)


def _write_private(file: Path, text: str) -> None:
    """Put a file that only its user may read in the place of what is there."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = file.with_name(f"{file.name}.new")
    partial.unlink(missing_ok=True)
    partial.touch(mode=0o600, exist_ok=False)
    partial.write_text(f"{text}\n", "utf-8")
    partial.replace(file)
