"""The command line: `serve`, `keys`, `members`, `audit`.

Every command creates or migrates the warehouse first. Exit status: 0 done, 1 failed (with a one-line
reason on standard error), 2 wrong usage.
"""

from typing import Any

import click
import orjson

from warehouse.settings import HOST, PORT, WORKERS
from warehouse.vocabulary import SCOPES
from web import keys
from web.app import wall_clock
from web.audit import OPERATOR
from web.cli_members import audit, members_group
from web.command import EndOfDay, Words, shown_time, warehouse, writing


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """The HTTP API, and the keys that open it."""


@main.command()
@click.option("--host", help="Address to listen on (setting HOST).")
@click.option("--port", type=click.IntRange(1, 65535), help="Port (setting PORT).")
@click.option("--workers", type=click.IntRange(1), help="Processes (setting WORKERS).")
def serve(host: str | None, port: int | None, workers: int | None) -> None:
    """Serve the API until SIGTERM or SIGINT; requests in flight are finished."""
    from web.server import run

    with warehouse() as engine:
        engine.dispose()
        run(host or HOST.get(), port or PORT.get(), workers or WORKERS.get())


@main.group("keys")
def keys_group() -> None:
    """API keys."""


@keys_group.command("mint")
@click.option("--shop", required=True, help="The shop that the key opens.")
@click.option("--scopes", type=Words("scope", SCOPES), required=True, help=", ".join(SCOPES))
@click.option("--name", default="", help="What the key is for.")
@click.option("--expires", type=EndOfDay(), help="Last (UTC) day on which it is valid.")
def mint(shop: str, scopes: tuple[str, ...], name: str, expires: int | None) -> None:
    """Mint a key. It is shown once, alone on the last line."""
    with writing() as connection:
        key = keys.mint(
            connection,
            shop,
            scopes,
            name=name,
            by=OPERATOR,
            now=wall_clock(),
            expires_at=expires,
        )
    click.echo(key)


@keys_group.command("list")
@click.option("--shop", help="Only this shop's.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_keys(shop: str | None, as_json: bool) -> None:
    """List keys, without the keys themselves."""
    now = wall_clock()
    with warehouse() as engine, engine.connect() as connection:
        for key in keys.list_keys(connection, shop):
            click.echo(orjson.dumps(_described(key, now)).decode() if as_json else _line(key, now))


@keys_group.command("revoke")
@click.argument("credential_id")
def revoke(credential_id: str) -> None:
    """Revoke a key: it stops working at once."""
    with writing() as connection:
        keys.revoke(connection, credential_id, by=OPERATOR, now=wall_clock())


@keys_group.command("rotate")
@click.argument("credential_id")
@click.option("--old-works", type=click.Choice(list(keys.GRACES)), default="24h", show_default=True)
@click.option("--expires", type=EndOfDay(), help="Last (UTC) day of the new key.")
def rotate(credential_id: str, old_works: str, expires: int | None) -> None:
    """Mint a key with the same name and scopes, and let the old one end. The new key is shown once,
    alone on the last line."""
    with writing() as connection:
        key = keys.rotate(
            connection,
            credential_id,
            by=OPERATOR,
            now=wall_clock(),
            grace=keys.GRACES[old_works],
            expires_at=expires,
        )
    click.echo(key)


main.add_command(members_group)
main.add_command(audit)


def _described(key: keys.Key, now: int) -> dict[str, Any]:
    return {
        "credentialId": key.credential_id,
        "shopId": key.shop_id,
        "name": key.name,
        "hint": key.hint,
        "scopes": list(key.scopes),
        "state": key.state(now),
        "createdBy": key.created_by,
        "createdAt": shown_time(key.created_at),
        "expiresAt": shown_time(key.expires_at),
        "revokedAt": shown_time(key.revoked_at),
        "lastUsedAt": shown_time(key.last_used_at),
        "replacedBy": key.replaced_by or None,
    }


def _line(key: keys.Key, now: int) -> str:
    used = f"used {shown_time(key.last_used_at)}" if key.last_used_at else "never used"
    parts = (key.credential_id, key.shop_id, f"{key.hint}…", key.state(now), ",".join(key.scopes))
    return "  ".join((*parts, used, key.name)).rstrip()
