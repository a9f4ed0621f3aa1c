"""Options that several commands have."""

from datetime import date

import click

from jobs.run.console import log_as
from warehouse.domain.time import day_number


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


shop_option = click.option("--shop", metavar="ID", help="Only this shop.")

# The scheduler runs its commands with the job's name: they are recorded under it, hold its lease,
# and print their lines with the time.
scheduled_as_option = click.option(
    "--as", "scheduled_as", metavar="JOB", hidden=True, callback=_log_scheduled
)
