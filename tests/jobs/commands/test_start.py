"""`start`: API, scheduler and collector as one command, as an owner runs it."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest

from tests.support.commands import ROOT
from tests.support.serving import free_port
from tests.support.waiting import PATIENCE_SECONDS, wait_until

LINK = re.compile(r"^start +\| (http://\S+/settings/first/\S+)$", re.M)


class Started:
    def __init__(self, folder: Path, port: int) -> None:
        self.log = folder / "log"
        own = {
            "DATA_DIR": str(folder),
            "WAREHOUSE_URL": f"sqlite:///{folder / 'warehouse.db'}",
            "IMPORT_DIR": str(folder / "landing"),
            "PORT": str(port),
            "COLLECT_PORT": str(port + 1),
            "WORKERS": "1",
            "COLLECT_WORKERS": "1",
        }
        with self.log.open("w") as log:
            self.process = psutil.Popen(
                [sys.executable, "-m", "jobs", "start"],
                cwd=ROOT,
                env={**os.environ, **own},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def lines(self) -> str:
        return self.log.read_text()

    def children(self) -> dict[str, psutil.Process]:
        return {child.cmdline()[-1]: child for child in self.process.children()}


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that have not ended. Nobody may look after one that has."""
    return [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Started]:
    one = Started(tmp_path, free_port(2))
    processes = [one.process]
    try:
        wait_until(lambda: LINK.search(one.lines()), one.lines)
        processes += one.process.children(recursive=True)
        yield one
    finally:
        for process in processes:
            if process.is_running():
                process.kill()


@pytest.mark.parametrize(("number", "setting"), [(0, "PORT"), (1, "COLLECT_PORT")])
def test_the_port_of_another_program(tmp_path: Path, number: int, setting: str) -> None:
    with socket.socket() as other:
        port = free_port(2)
        other.bind(("127.0.0.1", port + number))
        other.listen()
        one = Started(tmp_path, port)
        assert one.process.wait(PATIENCE_SECONDS) == 1
    assert one.lines() == (
        f"Error: another program listens on port {port + number}: end it, or set {setting} to another one\n"
    )


def test_one_log_one_link_and_one_ctrl_c(started: Started) -> None:
    link = LINK.search(started.lines())
    assert link
    with urlopen(link[1], timeout=PATIENCE_SECONDS) as page:
        assert "You are the first here" in page.read().decode()
    wait_until(
        lambda: all(
            f"\n{name:<9} | " in f"\n{started.lines()}"
            for name in ("api", "scheduler", "collector")
        ),
        started.lines,
    )
    children = started.process.children(recursive=True)
    # As a terminal sends it, to the processes of its group.
    os.killpg(started.process.pid, signal.SIGINT)
    assert started.process.wait(PATIENCE_SECONDS) == 0
    assert alive(children) == []
    assert started.lines().endswith("start     | all have ended\n")


def test_when_one_dies_all_end(started: Started) -> None:
    children = started.process.children(recursive=True)
    started.children()["scheduler"].kill()
    assert started.process.wait(PATIENCE_SECONDS) == 1
    assert alive(children) == []
    assert "Error: scheduler ended with exit status -9" in started.lines()
