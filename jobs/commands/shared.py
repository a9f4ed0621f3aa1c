"""What every command does first and last: open the warehouse, migrate it, turn failures into one line."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import adbc_driver_manager
import click
from sqlalchemy.exc import SQLAlchemyError

from jobs.rolling import UnknownShop
from warehouse import settings
from warehouse.bulk import Bulk, open_bulk
from warehouse.engine import Unavailable, open_engine
from warehouse.migrate import migrate


def say(message: str) -> None:
    """A line for the person at the terminal, apart from the command's output."""
    click.echo(message, err=True)


@contextmanager
def failures() -> Iterator[None]:
    """Exit 1 with one line on standard error, whatever the database or the settings say."""
    try:
        yield
    except (Unavailable, SQLAlchemyError, adbc_driver_manager.Error, OSError) as error:
        reason = " ".join(str(getattr(error, "orig", None) or error).split())
        say(f"Error: the warehouse does not answer: {reason}")
        sys.exit(1)
    except (settings.SettingError, UnknownShop) as error:
        say(f"Error: {error}")
        sys.exit(1)


@contextmanager
def warehouse() -> Iterator[tuple[Bulk, int]]:
    """The migrated warehouse and the attribution window in days."""
    with failures():
        url = settings.WAREHOUSE_URL.get()
        window_days = settings.ATTRIBUTION_WINDOW_DAYS.get()
        migrate(open_engine(url))
        with open_bulk(url) as bulk:
            yield bulk, window_days
