"""Several processes of the program as one command: one Ctrl-C ends all, and so does the end of one. A command
within another."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Thread
from typing import IO, Final

import click

from jobs.run.errors import CommandFailed
from jobs.run.signals import Stopped, graceful_stop, pause
from warehouse.setting_values import Setting
from warehouse.settings import HOST, PORT

_LOOK_SECONDS: Final = 0.2
# Longer than each of them takes by itself to end what it has begun.
_KILL_AFTER_SECONDS: Final = 40.0

Say = Callable[[str, str], None]
"""Takes a line of a process: the name of the process, and the line."""


def require_free(ports: Iterable[tuple[Setting, str, int]]) -> None:
    """Raise CommandFailed where another program listens on one of the ports: its setting, its host, itself.
    Answers of that program would be taken for the API's, and a link that works once be opened there."""
    for setting, host, port in ports:
        # A browser asks all addresses of `localhost`, and a program may listen on one of them alone.
        if any(_listens(one, port) for one in (host, "localhost")):
            raise CommandFailed(
                f"another program listens on port {port}: end it, or set {setting.name} to another one"
            )


def run_together(
    commands: Mapping[str, Sequence[str]], say: Say, served: Callable[[], None]
) -> None:
    """Run `python -m WORDS` for each name until a signal comes or one ends; then end the others. `served` is
    called in a thread once the API answers. Raises CommandFailed where one ended by itself."""
    children: dict[str, subprocess.Popen[str]] = {}
    ended: list[str] = []

    def tell_once_served() -> None:
        while not _listens(HOST.get(), PORT.get()):
            time.sleep(_LOOK_SECONDS)
        served()

    with graceful_stop(lambda: None, seconds=_KILL_AFTER_SECONDS + 1):
        try:
            for name, words in commands.items():
                children[name] = _child(name, words, say)
            Thread(target=tell_once_served, daemon=True).start()
            while not ended:
                pause(_LOOK_SECONDS)
                ended = [name for name, one in children.items() if one.poll() is not None]
        except Stopped:
            pass
        finally:
            for child in children.values():
                if child.poll() is None:
                    child.terminate()
            deadline = time.monotonic() + _KILL_AFTER_SECONDS
            for name, child in children.items():
                try:
                    child.wait(max(deadline - time.monotonic(), 0))
                except subprocess.TimeoutExpired:
                    say("start", f"{name} does not end, and is killed")
                    child.kill()
                    child.wait()
    if ended:
        status = children[ended[0]].returncode
        raise CommandFailed(
            f"{ended[0]} ended with exit status {status}, and so the others were ended"
        )


def output_of(*words: str, quiet: bool = False) -> str:
    """The output of `python -m WORDS`, or "" where it fails. Its errors are shown unless `quiet`."""
    done = subprocess.run(
        [sys.executable, "-m", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if quiet else None,
        text=True,
        check=False,
    )
    return done.stdout if done.returncode == 0 else ""


def run_within(name: str, *arguments: str) -> None:
    """Run a command of the program within the one that runs. Raises what it raises."""
    ctx = click.get_current_context()
    group = ctx.find_root().command
    assert isinstance(group, click.Group)
    command = group.get_command(ctx, name)
    assert command is not None
    with command.make_context(name, list(arguments), parent=ctx) as sub:
        command.invoke(sub)


def _child(name: str, words: Sequence[str], say: Say) -> subprocess.Popen[str]:
    """A process with a group of its own: Ctrl-C reaches this one alone, which ends them in its way."""
    child = subprocess.Popen(
        [sys.executable, "-m", *words],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="backslashreplace",
        start_new_session=True,
    )
    assert child.stdout
    lines: IO[str] = child.stdout

    def pass_on() -> None:
        for line in lines:
            say(name, line.rstrip("\n"))

    Thread(target=pass_on, daemon=True).start()
    return child


def _listens(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True
