"""Options that several commands have."""

import json
from datetime import date
from functools import cached_property
from importlib import import_module
from typing import Any, Final

import click

from jobs.run.console import log_as
from warehouse.domain.time import cron, day_number
from warehouse.settings import EXECUTOR

# How many days of a shop `verify` compares, unless it is told.
SAMPLE_DAYS: Final = 7
# How many days the made-up shop of `demo` has.
DEMO_DAYS: Final = 120


class NamesIn(click.Choice[str]):
    """One of the names in a table of a module, which is imported when the names are needed: to know the kinds
    of files is to load the importer, with pandas."""

    def __init__(self, module: str, table: str) -> None:
        self._module, self._table, self.case_sensitive = module, table, True

    @cached_property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(getattr(import_module(self._module), self._table))


class DayParam(click.ParamType[int]):
    """A calendar day, YYYY-MM-DD, as a day number."""

    name = "day"

    def convert(self, value: str | int, param: object, ctx: object) -> int:
        if isinstance(value, int):
            return value
        try:
            return day_number(date.fromisoformat(value))
        except ValueError:
            self.fail(f"{value!r} is not a day (YYYY-MM-DD)")


class TimeParam(click.ParamType[int]):
    """An ISO 8601 time from 2000 on, at most a day ahead, as an instant."""

    name = "time"

    def convert(self, value: str | int, param: object, ctx: object) -> int:
        # Imported here: few commands are given a time.
        from jobs.importing.values.times import recent_instant

        try:
            return value if isinstance(value, int) else recent_instant(value)
        except ValueError as cause:
            self.fail(str(cause))


class JsonObject(click.ParamType[dict[str, Any]]):
    """A file with a JSON object in it; `-` is standard input."""

    name = "file"

    def convert(self, value: Any, param: Any, ctx: Any) -> dict[str, Any]:
        try:
            with click.open_file(value) as file:
                converted = json.load(file)
        except OSError as error:
            self.fail(f"{value!r}: {error.strerror}")
        except ValueError:
            converted = None
        if not isinstance(converted, dict):
            # The text may be a secret: the message does not quote it.
            self.fail("the file must hold a JSON object")
        return converted


def cron_or_off(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str | None:
    """A cron expression; "" for `off`."""
    if text is None or text == "off":
        return None if text is None else ""
    try:
        cron(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r}: {error}") from None
    return text


def _log_scheduled(ctx: click.Context, _param: click.Parameter, job: str | None) -> str | None:
    if job is not None:
        log_as(job)
        ctx.find_root().call_on_close(lambda: log_as(""))
    return job


def _executor(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str:
    if text is None:
        executor: str = EXECUTOR.get()
        return executor
    try:
        return str(EXECUTOR.parse(text))
    except ValueError as error:
        raise click.BadParameter(f"{text!r} {error}") from None


shop_option = click.option("--shop", metavar="ID", help="Only this shop.")

executor_option = click.option(
    "--executor",
    metavar="WHERE",
    callback=_executor,
    help="Where to compute: inline, processes:N or dask+tls://HOST:PORT (default: EXECUTOR).",
)

# The scheduler runs its commands with the job's name: they are recorded under it, hold its lease,
# and print their lines with the time.
scheduled_as_option = click.option(
    "--as", "scheduled_as", metavar="JOB", hidden=True, callback=_log_scheduled
)
