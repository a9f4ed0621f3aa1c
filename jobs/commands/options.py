"""Options that several commands have."""

from datetime import date

import click

from jobs.run.console import log_as
from warehouse.domain.time import day_number
from warehouse.settings import EXECUTOR


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
