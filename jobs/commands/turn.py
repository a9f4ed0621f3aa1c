"""`run`: one turn of the schedule, as the scheduler runs it."""

import click

from jobs.commands.shared import failures
from jobs.running import Turn, turn
from jobs.schedule import schedule


@click.command("run")
@click.argument("job", metavar="JOB")
@click.option("--quiet", is_flag=True, help="Say nothing where another process has the turn.")
@click.pass_context
def run_command(ctx: click.Context, job: str, quiet: bool) -> None:
    """Run a JOB of the schedule now (nightly, refresh, ...), recorded under that name. Exit status 75
    says that another process, here or on another machine, is at it."""
    with failures():
        jobs = {one.name: one for one in schedule()}
    if job not in jobs:
        raise click.BadArgumentUsage(f"no job {job!r}; there are {', '.join(jobs)}")
    group = ctx.parent.command if ctx.parent else None
    assert isinstance(group, click.Group)
    name, *words = jobs[job].command
    command = group.get_command(ctx, name)
    assert command is not None
    token = turn.set(Turn(job, quiet))
    try:
        command.main(words, standalone_mode=False)
    finally:
        turn.reset(token)
