"""Job runs: at which item runs ended that did not come to an end of it."""

from warehouse.connections.arrow import open_arrow
from warehouse.operations import job_runs


def test_runs_that_ended_at_an_item_are_counted(warehouse_url: str) -> None:
    with open_arrow(warehouse_url) as connection:

        def run_at(item: str, job: str = "landing") -> job_runs.Record:
            record = job_runs.Record(job, "")
            job_runs.begin(connection, record, 1)
            job_runs.work_at(connection, record, item)
            return record

        for item in ("a", "a", "", "b"):
            run_at(item)
        run_at("a", job="another")
        own = run_at("a")
        assert job_runs.ended_at(connection, own) == {"a": 2, "b": 1}
        job_runs.forget_work(connection, own, "a")
        assert job_runs.ended_at(connection, run_at("c")) == {"b": 1}
