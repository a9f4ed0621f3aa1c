"""What jobs know of themselves: which ran, which may run, and which batches they could not take in."""

from typing import Final

from warehouse.columns import Index, Table, key, serial, text, text_key, whole

run: Final = Table(
    "run",
    serial("run_id"),
    text("job"),
    # The rest of the command line.
    text("words"),
    text("owner"),
    whole("started_at"),
    # When its process last said that it lives; 0 in `ended_at` until the run has ended.
    whole("seen_at"),
    whole("ended_at"),
    text("state"),
    whole("shops"),
    whole("batches"),
    whole("rows"),
    # Seconds by phase, as a JSON object.
    text("phases"),
    text("error"),
    Index("job", "run_id"),
    Index("started_at"),
)

job_lease: Final = Table(
    "job_lease",
    text_key("job"),
    text("owner"),
    whole("until"),
)

failed_batch: Final = Table(
    "failed_batch",
    key("edition"),
    key("batch_id"),
    whole("tries"),
    whole("failed_at"),
    # NEVER: it was set aside, and no schedule tries it again but the nightly one.
    whole("retry_at"),
    text("error"),
)
