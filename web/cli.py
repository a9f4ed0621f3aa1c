"""The command line: `serve`, `keys mint | list | revoke`.

Every command creates or migrates the warehouse first. Exit status: 0 done, 1 failed (with a one-line
reason on standard error), 2 wrong usage.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import click
import orjson
from sqlalchemy import Engine
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from warehouse.days import iso_millis, to_micros
from warehouse.engine import open_engine
from warehouse.migrate import migrate
from warehouse.settings import HOST, PORT, WAREHOUSE_URL, WORKERS, SettingError
from warehouse.vocabulary import SCOPES
from web import keys
from web.app import wall_clock

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Scopes(click.ParamType[tuple[str, ...]]):
    """A comma-separated list of scopes, at least one."""

    name = "scopes"

    def convert(self, value: Any, _param: Any, _context: Any) -> tuple[str, ...]:
        scopes = tuple(text.strip() for text in value.split(","))
        for scope in scopes:
            if scope not in SCOPES:
                self.fail(f"{scope!r} is no scope; there are {', '.join(SCOPES)}")
        return scopes


class EndOfDay(click.ParamType[int]):
    """A UTC day `YYYY-MM-DD`, as the instant at which it ends."""

    name = "day"

    def convert(self, value: Any, _param: Any, _context: Any) -> int:
        try:
            if not _DAY.fullmatch(value):
                raise ValueError
            start = datetime.combine(date.fromisoformat(value), datetime.min.time(), UTC)
            return to_micros(start + timedelta(days=1))
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no day YYYY-MM-DD")


@contextmanager
def warehouse() -> Iterator[Engine]:
    """An engine on the migrated warehouse. What fails becomes one line and exit status 1."""
    try:
        engine = open_engine(WAREHOUSE_URL.get())
        migrate(engine)
        yield engine
    except keys.UnknownShop as error:
        raise click.ClickException(f"there is no shop {error}") from None
    except keys.UnknownKey as error:
        raise click.ClickException(f"there is no key {error}") from None
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        raise click.ClickException(f"the warehouse does not answer: {reason}") from None
    except (SettingError, ArgumentError, OSError) as error:
        raise click.ClickException(str(error)) from None


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
@click.option("--scopes", type=Scopes(), required=True, help=", ".join(SCOPES))
@click.option("--name", default="", help="What the key is for.")
@click.option("--expires", type=EndOfDay(), help="Last (UTC) day on which it is valid.")
def mint(shop: str, scopes: tuple[str, ...], name: str, expires: int | None) -> None:
    """Mint a key. It is shown once, alone on the last line."""
    with warehouse() as engine:
        with engine.connect().execution_options(writes=True) as connection:
            key = keys.mint(
                connection,
                shop,
                scopes,
                name=name,
                created_by="command line",
                now=wall_clock(),
                expires_at=expires,
            )
            connection.commit()
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
    with warehouse() as engine, engine.connect().execution_options(writes=True) as connection:
        keys.revoke(connection, credential_id, wall_clock())
        connection.commit()


def _described(key: keys.Key, now: int) -> dict[str, Any]:
    return {
        "credentialId": key.credential_id,
        "shopId": key.shop_id,
        "name": key.name,
        "hint": key.hint,
        "scopes": list(key.scopes),
        "state": key.state(now),
        "createdBy": key.created_by,
        "createdAt": _time(key.created_at),
        "expiresAt": _time(key.expires_at),
        "revokedAt": _time(key.revoked_at),
        "lastUsedAt": _time(key.last_used_at),
    }


def _line(key: keys.Key, now: int) -> str:
    used = f"used {_time(key.last_used_at)}" if key.last_used_at else "never used"
    parts = (key.credential_id, key.shop_id, f"{key.hint}…", key.state(now), ",".join(key.scopes))
    return "  ".join((*parts, used, key.name)).rstrip()


def _time(instant: int | None) -> str | None:
    if instant is None:
        return None
    return iso_millis(instant)
