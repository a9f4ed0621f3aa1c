"""Jobs: their runs, the schedulers, and the pulls that are set up."""

from typing import Final

from sqlalchemy import Table, UniqueConstraint

from warehouse.tables.base import (
    index,
    integer,
    metadata,
    serial_key,
    small_integer,
    text,
    text_key,
)

job_run: Final = Table(
    "job_run",
    metadata,
    serial_key("run_id"),
    text("job"),
    # The command line after the job's name; of a landing run, the file that it is importing.
    text("arguments"),
    text("owner"),
    integer("started_at"),
    # The last heartbeat of its process. `ended_at` is 0 until the run ends.
    integer("seen_at"),
    integer("ended_at"),
    text("state"),
    # 1: while it runs, and lives, its row is the lease of its job.
    small_integer("is_exclusive"),
    integer("shops"),
    integer("batches"),
    integer("rows"),
    # Seconds by phase, as a JSON object.
    text("phases"),
    text("error"),
    index("job", "run_id"),
    index("started_at"),
    index(
        "job",
        unique=True,
        where="state = 'running' AND is_exclusive = 1",
        name="uq_job_run_exclusive",
    ),
)

# A scheduler and its last heartbeat (`operations/schedulers.py`).
scheduler: Final = Table(
    "scheduler",
    metadata,
    text_key("owner"),
    integer("started_at"),
    integer("seen_at"),
    # When the next of its jobs is due.
    integer("due_at"),
    # Its jobs, as a JSON list.
    text("schedule"),
    text("landing_folder"),
    # The files that wait there, and when the oldest one landed: 0 without one.
    integer("landed_files"),
    integer("landed_since"),
    # Findings that its host alone sees: a JSON list of conditions and messages.
    text("host_findings"),
)

# A host with collectors, and the last heartbeat of one (`operations/collectors.py`).
collector: Final = Table("collector", metadata, text_key("host"), integer("seen_at"))

# A pull, which fetches by itself: a source of one shop (0: of all shops).
pull: Final = Table(
    "pull",
    metadata,
    serial_key("pull_id"),
    integer("shop_key"),
    text("source"),
    text("name"),
    # A JSON object without secrets.
    text("config"),
    # Encrypted with CREDENTIALS_KEY (`intake/shop_pulls.py`); "": the environment has them.
    text("credentials"),
    # A cron expression in UTC; "": only by hand.
    text("schedule"),
    # When it was set up, or changed.
    integer("set_up_at"),
    integer("lookback_days"),
    # How far the source was read, as a JSON object of the source's own.
    text("state"),
    # The last run that ended by itself: 0 before the first, then "ok" or "error" with its reason.
    integer("ran_at"),
    text("status"),
    text("message"),
    integer("rows"),
    integer("bytes"),
    index("shop_key"),
    UniqueConstraint("name"),
)
