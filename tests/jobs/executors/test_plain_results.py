"""A worker of a Dask cluster runs nothing in the process of the job, whatever it sends."""

from pathlib import Path

import pytest

from tests.jobs.executors.conftest import assert_whole, make_shops
from tests.support.dask_cluster import dask_cluster
from tests.support.job_commands import Commands

# The preload of a worker: each task's answer has whoever reads it write down its own process.
HOSTILE = """
import jobs.executors.dask_setup as dask_setup

WRITES = "import os; open({file!r}, 'a').write(str(os.getpid()) + chr(10))"

class Runs(Exception):
    def __reduce__(self):
        return exec, (WRITES,)

def on_worker(task, *args):
    {answer}

dask_setup.on_worker = on_worker
"""


@pytest.mark.parametrize("answer", ["return Runs()", "return [{1: Runs()}]", "raise Runs()"])
def test_an_answer_runs_nothing(answer: str, postgres_commands: Commands, tmp_path: Path) -> None:
    make_shops(postgres_commands)
    preload, file = tmp_path / "hostile.py", tmp_path / "ran"
    preload.write_text(HOSTILE.format(file=str(file), answer=answer))
    with dask_cluster(postgres_commands.url, tmp_path / "dask", workers=0) as cluster:
        cluster.start_worker(
            *("--nthreads", "1", "--preload", "jobs.executors.dask_setup"),
            "--preload",
            str(preload),
        )
        cluster.wait_for_workers(1)
        driver = postgres_commands.start("rollup", "--executor", cluster.address)
        said = driver.finish()
    assert "a worker failed: " in said
    ran = file.read_text().split() if file.exists() else []
    # The worker itself has tried its answer.
    assert str(driver.pid) not in ran
    assert_whole(postgres_commands)
