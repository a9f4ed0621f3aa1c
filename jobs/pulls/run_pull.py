"""One run of a pull: under its lease, recorded, and with its result in the table `pull`."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

from jobs.pulls import http, limits
from jobs.pulls.base import PullRun, without_secrets
from jobs.pulls.limits import PullFailed
from jobs.pulls.set_up import SOURCES
from jobs.run.console import report
from jobs.run.errors import CommandFailed, explained
from jobs.run.job_run import JobRun
from warehouse import command, settings
from warehouse.connections.errors import is_outage
from warehouse.domain.time import iso_millis, now_micros
from warehouse.intake import shop_pulls
from warehouse.intake.shop_pulls import ERROR, OK, decrypted


def run_pull(name: str, scheduled_as: str | None) -> None:
    """Run the pull of a name. Raises CommandFailed, AlreadyRunning, and Stopped after a signal."""
    with JobRun(f"{shop_pulls.JOB}{name}", scheduled_as=scheduled_as, exclusive=True) as job:
        # Under the lease: the state is the one that the run before has left.
        pull = shop_pulls.find(job.connection, name)
        if pull is None:
            raise CommandFailed(
                f"no pull {name!r}; `{command('jobs pulls list')}` shows those there are"
            )
        source, root = SOURCES[pull.source], settings.IMPORT_DIR.get()
        keep_state = partial(shop_pulls.keep_state, job.connection, pull)
        run = PullRun(pull, {}, root, datetime.now(UTC), keep_state)
        try:
            try:
                source.check(pull.config, pull.shop_id)
            except ValueError as error:
                raise PullFailed(f"the configuration of the pull: {error}") from None
            run.credentials = decrypted(pull.credentials) if pull.credentials else {}
            with limits.time_limit(http.end_connections):
                outcome = source.pull(run)
            _land_account(run, "")
        except Exception as error:
            if is_outage(error):
                raise
            message = without_secrets(explained(error), run.credentials)
            with suppress(OSError):
                _land_account(run, message)
            shop_pulls.fail(job.connection, pull, now_micros(), message)
            raise CommandFailed(message) from None
        # The files are there by now: a process that is killed here pulls the same again.
        shop_pulls.end_well(
            job.connection, pull, now_micros(), outcome.state, outcome.rows, outcome.bytes
        )
        job.record.rows = outcome.rows
        # A scheduler's log tells what happened, not that nothing did.
        if outcome.rows or scheduled_as is None:
            report(f"pulled {pull.name}: {outcome.rows} rows, {outcome.bytes} bytes")


def _land_account(run: PullRun, message: str) -> None:
    """Land a row for the ad account of the pull, if it has one, with how this pull ended."""
    account = run.pull.config.get("ad_account")
    if not isinstance(account, dict):
        return
    row = {
        "shop_id": run.pull.shop_id,
        "provider": account.get("provider"),
        "account_id": account.get("account_id", ""),
        "status": ERROR if message else OK,
        "synced_at": iso_millis(now_micros()),
        "message": message,
    }
    with run.new_file("ad-accounts", "", ".ndjson", "account") as file:
        file.write(json.dumps(row).encode() + b"\n")
