"""`start`: a shop's own installation as one command: the API, the scheduler and the collector.

Each is the process that a host runs by itself (`jobs/systemd/`). Here one terminal has their lines, each
with the name of its process; one Ctrl-C ends all, and so does the end of one of them.
"""

import os
import socket
import subprocess
import sys
import time
from threading import Thread
from typing import IO, Final

import click

from jobs.run.errors import CommandFailed
from jobs.run.signals import Stopped, graceful_stop, pause
from warehouse.settings import HOST, PORT, collects_here_alone

_PROCESSES: Final = {
    "api": ("web", "serve"),
    "scheduler": ("jobs", "scheduler"),
    "collector": ("web", "collect"),
}
_WIDTH: Final = max(map(len, (*_PROCESSES, "start")))
_LOOK_SECONDS: Final = 0.2
# Longer than each of them takes by itself to end what it has begun.
_KILL_AFTER_SECONDS: Final = 40.0


def start_command() -> None:
    children: dict[str, subprocess.Popen[str]] = {}
    ended: list[str] = []
    with graceful_stop(lambda: None, seconds=_KILL_AFTER_SECONDS + 1):
        try:
            for name, (room, command) in _PROCESSES.items():
                children[name] = _child(name, room, command)
            Thread(target=_show_first_link, daemon=True).start()
            while not ended:
                pause(_LOOK_SECONDS)
                ended = [name for name, one in children.items() if one.poll() is not None]
        except Stopped:
            pass
        finally:
            _end(children)
    if ended:
        status = children[ended[0]].returncode
        raise CommandFailed(
            f"{ended[0]} ended with exit status {status}, and so the others were ended"
        )
    _say("start", "all have ended")


def _child(name: str, room: str, command: str) -> subprocess.Popen[str]:
    """A process with a group of its own: Ctrl-C reaches this one alone, which ends them in its way."""
    child = subprocess.Popen(
        [sys.executable, "-m", room, command],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="backslashreplace",
        start_new_session=True,
    )
    assert child.stdout
    Thread(target=_pass_on, args=(name, child.stdout), daemon=True).start()
    return child


def _pass_on(name: str, lines: IO[str]) -> None:
    for line in lines:
        _say(name, line.rstrip("\n"))


def _say(name: str, line: str) -> None:
    click.echo(f"{name:<{_WIDTH}} | {line}")


def _end(children: dict[str, subprocess.Popen[str]]) -> None:
    for child in children.values():
        if child.poll() is None:
            child.terminate()
    deadline = time.monotonic() + _KILL_AFTER_SECONDS
    for name, child in children.items():
        try:
            child.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            _say("start", f"{name} does not end, and is killed")
            child.kill()
            child.wait()


def _show_first_link() -> None:
    """Once the API answers: the link with which the first member begins, where there is nobody yet."""
    while not _listens():
        time.sleep(_LOOK_SECONDS)
    shown = subprocess.run(
        [sys.executable, "-m", "web", "members", "first-link"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    for line in shown.stdout.splitlines():
        _say("start", line)
    if collects_here_alone():
        _say(
            "start",
            "The line for pages that Set up shows works on this computer alone, until COLLECT_URL, "
            "PUBLIC_URL and TRUSTED_PROXIES are set.",
        )


def _listens() -> bool:
    try:
        socket.create_connection((HOST.get(), PORT.get()), timeout=1).close()
    except OSError:
        return False
    return True
