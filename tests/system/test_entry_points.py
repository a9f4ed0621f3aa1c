"""Faults that only a start from nothing shows: `python -m`, a closed output, a signal before anything is
set up, and servers whose processes each load the program for themselves.

Other tests start commands as forks (`tests/support/commands.py`).
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.import_files import as_ndjson, form, order
from tests.support.job_commands import SHOP, Commands
from tests.support.serving import WORKERS, ask, await_workers, free_port
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.tiers import thorough
from tests.web.collector.lines import files_of


@pytest.fixture
def commands(sqlite_url: str, tmp_path: Path) -> Commands:
    commands = Commands(sqlite_url, tmp_path)
    commands.take("shops", [SHOP])
    return commands


Process = subprocess.Popen[str]


def started(
    commands: Commands,
    words: tuple[str, ...],
    settings: Mapping[str, str] | None = None,
    output: int = subprocess.PIPE,
) -> Process:
    """`python -m WORDS` with the settings of the commands, and these."""
    return subprocess.Popen(
        [sys.executable, "-m", *words],
        env={**os.environ, **commands.settings, **(settings or {})},
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: Process) -> tuple[int, str, str]:
    """Exit status, standard output and standard error."""
    output, errors = process.communicate(timeout=PATIENCE_SECONDS)
    return process.returncode, output, errors


def test_every_exit_status(commands: Commands) -> None:
    def run(*words: str, **settings: str) -> tuple[int, str, str]:
        return ended(started(commands, words, settings))

    status, output, errors = run("jobs", "--help")
    usage = "Usage: python -m jobs [OPTIONS] COMMAND [ARGS]..."
    assert (status, output.splitlines()[0], errors) == (0, usage, "")
    commands.take("orders", [order()])
    assert run("jobs", "rollup") == (0, "rolled up 1 rows\n", "")
    status, output, errors = run("jobs", "import", "orders", "gone.ndjson")
    assert (status, output, errors.count("\n")) == (1, "", 1)
    assert run("jobs", "rolup")[0] == 2
    assert run("jobs", "status", RAW_DAYS="x")[0] == 2
    rejected = commands.folder / "rejected.ndjson"
    rejected.write_bytes(as_ndjson([order(shop_id="none.example")]))
    assert run("jobs", "import", "orders", str(rejected))[0] == 3
    member = ("members", "add", "--shop", SHOP["shop_id"], "--email", "ada@example.com")
    assert run("web", *member, "--permissions", "")[0] == 0
    status, output, errors = run("web", "members", "list")
    assert (status, "ada@example.com" in output, errors) == (0, True, "")


def test_a_signal_before_anything_is_set_up(commands: Commands, tmp_path: Path) -> None:
    """Python runs `sitecustomize` before the program: what is killed there has done nothing."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n"
    )
    process = started(commands, ("jobs", "rollup"), {"PYTHONPATH": str(tmp_path)})
    assert ended(process) == (-signal.SIGTERM, "", "")
    assert commands.rows("SELECT COUNT(*) FROM job_run WHERE job = 'rollup'") == [0]


@pytest.mark.parametrize("words", [("fields", "events"), *thorough([("--help",), ("status",)])])
def test_an_output_that_nobody_reads_ends_a_command(
    commands: Commands, words: tuple[str, ...]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with started(commands, ("jobs", *words), output=writing) as command:
        status, _, errors = ended(command)
    os.close(writing)
    assert (status, errors) == (1, "")


def test_a_scheduler_starts_its_jobs(commands: Commands) -> None:
    commands.take("orders", [order()])
    with started(commands, ("jobs", "scheduler")) as scheduler:
        commands.wait_until("SELECT COUNT(*) FROM job_run WHERE job = 'refresh' AND state = 'done'")
        scheduler.terminate()
        status, output, errors = ended(scheduler)
    assert (status, output.count("rolled up 1 rows")) == (0, 1)
    assert "stopping after the current batch" in errors


def test_an_api_of_several_processes(commands: Commands) -> None:
    port = free_port()
    words = ("serve", "--port", str(port), "--workers", str(WORKERS))
    with started(commands, ("web", *words)) as server:
        assert len(await_workers(server.pid)) == WORKERS
        for _ in range(8):
            assert ask(port, "GET", "/healthz") == (200, {"status": "ok"})
        server.terminate()
        status, _, errors = ended(server)
    assert (status, errors.splitlines()[0]) == (0, f"Serving on http://127.0.0.1:{port}")


def test_a_collector_of_several_processes(commands: Commands) -> None:
    port = free_port()
    commands.take("forms", [form()])
    create = ("write-keys", "create", "--shop", SHOP["shop_id"])
    key = ended(started(commands, ("web", *create)))[1].splitlines()[-1]
    call = {"event": "Form Viewed", "anonymousId": "v", "properties": {"form_session_id": "s"}}
    body = json.dumps(call | {"writeKey": key})
    words = ("collect", "--port", str(port), "--workers", str(WORKERS))
    with started(commands, ("web", *words)) as server:
        await_workers(server.pid)
        kind = {"Content_Type": "text/plain"}
        wait_until(lambda: ask(port, "POST", "/v1/t", body=body, **kind)[0] == 200)
        server.terminate()
        assert ended(server)[0] == 0
    # The workers have given their files their own names.
    assert len(files_of(commands.landing)) == 1
    assert files_of(commands.landing, growing=True) == []
