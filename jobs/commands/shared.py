"""What every command does first and last: open the warehouse, migrate it, turn failures into one line."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import adbc_driver_manager
import click

from jobs.shops import UnknownShop
from jobs.telling import say
from warehouse import settings
from warehouse.bulk import Bulk
from warehouse.defects import defect
from warehouse.migrated import open_migrated
from warehouse.outages import is_outage


@contextmanager
def failures() -> Iterator[None]:
    """Exit 1 with one line on standard error, whatever the database or the settings say."""
    try:
        yield
    except (settings.SettingError, UnknownShop) as error:
        say(f"Error: {error}")
        sys.exit(1)
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:
        if not is_outage(error) and not isinstance(error, adbc_driver_manager.Error):
            say(f"Error: {defect(error)}")
            sys.exit(1)
        what = "does not answer" if is_outage(error) else "refuses"
        say(f"Error: the warehouse {what}: {in_one_line(error)}")
        sys.exit(1)


def in_one_line(error: BaseException) -> str:
    """What an error says, the database's own words where they are wrapped in others."""
    return " ".join(str(getattr(error, "orig", None) or error).split())


@contextmanager
def warehouse() -> Iterator[tuple[Bulk, int]]:
    """The migrated warehouse and the attribution window in days."""
    with failures():
        url = settings.WAREHOUSE_URL.get()
        window_days = settings.ATTRIBUTION_WINDOW_DAYS.get()
        with open_migrated(url) as bulk:
            yield bulk, window_days
