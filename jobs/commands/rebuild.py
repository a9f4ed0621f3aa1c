"""`rebuild`: compute everything again from the raw rows."""

from jobs.pipeline import plan
from jobs.pipeline.raw_days import say_purged
from jobs.run.console import bar, report
from jobs.run.job_run import JobRun


def rebuild_command(shop: str | None, executor: str) -> None:
    with JobRun("rebuild", f"--shop {shop}" if shop else "") as run:
        say_purged(run.connection, shop)
        total = plan.waiting_rows(run.connection, run.window_days, shop, rebuild=True)
        with bar("rebuild", " rows", total) as shown:
            run.on_rows = shown.advance
            plan.rebuild(run, shop, executor=executor)
        report(f"rebuilt from {run.record.rows} rows")
