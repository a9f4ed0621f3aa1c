"""The product's commands as processes of their own, each a fork of one process that has all of it imported.

To start `python -m jobs` takes a second of the processor, a fork a twentieth of that. A fork runs the same
`__main__`, with the umask, signals and exit of a process that was started, and with the environment that it
is given and no other. `tests/system/test_entry_points.py` has what only a start from nothing can show.
"""

import atexit
import gc
import os
import pickle
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import IO, Any, Final, NoReturn

import psutil

from tests.support.waiting import PATIENCE_SECONDS, wait_until

ROOT: Final = Path(__file__).parents[2]
# Everything that a command may import, besides what it needs only after its environment is there.
_IMPORTED: Final = (
    *(f"jobs.commands.{path.stem}" for path in sorted(ROOT.glob("jobs/commands/[a-z]*.py"))),
    *("jobs.cli", "jobs.importing.undo", "jobs.pipeline.forgetting", "alembic.command", "psycopg"),
    *("adbc_driver_sqlite.dbapi", "adbc_driver_postgresql.dbapi", "sqlalchemy.dialects.sqlite"),
    *("web.cli", "web.app", "web.server.wsgi_server", "web.collector.server"),
)
_WARM: Final = "from tests.support.commands import become_commands; become_commands({})"
_FORK: Final = threading.Lock()


@dataclass(frozen=True)
class _Start:
    """The program that a fork becomes. `before` is called in it before the program begins."""

    program: str
    words: tuple[str, ...]
    environment: dict[str, str]
    folder: str
    umask: int | None
    before: Callable[[], object] | None


class Command:
    """A command that runs, or has ended. Its output can be read while it runs."""

    def __init__(self, start: _Start, stdin: int | None = None, stdout: int | None = None) -> None:
        """`stdin` and `stdout` are files of this process that become those of the command, which has nothing
        to read and keeps what it writes where they are not given."""
        self.words = (start.program, *start.words)
        with ExitStack() as files:
            self._output = files.enter_context(tempfile.TemporaryFile())
            self._errors = files.enter_context(tempfile.TemporaryFile())
            ended, told = os.pipe()
            self._ended = files.enter_context(open(ended))
            nothing = files.enter_context(open(os.devnull, "rb"))
            weakref.finalize(self, files.pop_all().close)
        self._status: int | None = None
        with tempfile.TemporaryFile() as request, _FORK:
            pickle.dump(start, request)
            request.flush()
            warm = _warm_process()
            given = [
                nothing.fileno() if stdin is None else stdin,
                self._output.fileno() if stdout is None else stdout,
            ]
            socket.send_fds(warm, [b"!"], [request.fileno(), *given, self._errors.fileno(), told])
            self.pid = int(warm.recv(32))
        os.close(told)

    @property
    def status(self) -> int | None:
        """The exit status (negative: the signal that ended it); None while it runs."""
        if self._status is None and select.select([self._ended], [], [], 0)[0]:
            self._status = int(self._ended.read())
        return self._status

    def wait(self, seconds: float = PATIENCE_SECONDS) -> int:
        """Wait for the end; returns the exit status. Raises TimeoutError."""
        if self._status is None and not select.select([self._ended], [], [], seconds)[0]:
            raise TimeoutError(f"{self} has not ended: {self.printed}")
        assert self.status is not None
        return self.status

    def send(self, number: int) -> None:
        if self.status is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def wait_until_stopped(self) -> None:
        """Wait until a signal has stopped it (`stop_at_call`)."""
        wait_until(lambda: psutil.Process(self.pid).status() == psutil.STATUS_STOPPED)

    def terminate(self) -> None:
        self.send(signal.SIGTERM)

    def kill(self) -> None:
        self.send(signal.SIGKILL)

    def kill_all(self) -> None:
        """Kill it and all that it has started, also where it has ended itself: a job of a scheduler that is
        killed goes on, and would work on the rows of the next test in the same database."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    @property
    def output(self) -> str:
        """Its standard output so far."""
        return _text(self._output)

    @property
    def errors(self) -> str:
        """Its standard error so far."""
        return _text(self._errors)

    @property
    def printed(self) -> str:
        return self.output + self.errors

    def says(self, words: str) -> None:
        """Wait until it has said this on standard error."""
        wait_until(lambda: words in self.errors, lambda: f"{self}: {self.errors}")

    def finish(self, status: int = 0) -> str:
        """Wait for the end, with this exit status; returns what it printed."""
        assert self.wait() == status, (self, self.status, self.output, self.errors)
        return self.printed

    def __str__(self) -> str:
        return " ".join(self.words)


class ForkedProcess:
    """A fork in place of the process that `subprocess.Popen` would start, for `python -m PROGRAM WORDS` with
    pipes to its input and output."""

    def __init__(self, command: list[str], **_options: object) -> None:
        _python, _module, program, *words = command
        input_of_it, ours = os.pipe()
        its, output_of_it = os.pipe()
        with ExitStack() as pipes:
            self.stdin = pipes.enter_context(open(ours, "w"))
            self.stdout = pipes.enter_context(open(its))
            weakref.finalize(self, pipes.pop_all().close)
        start = _Start(program, tuple(words), {**os.environ}, os.getcwd(), None, None)
        self._command = Command(start, input_of_it, output_of_it)
        self.terminate, self.kill = self._command.terminate, self._command.kill
        os.close(input_of_it)
        os.close(output_of_it)

    def communicate(self, text: str) -> tuple[str, None]:
        """Give it all of its input, and wait for its end; what it printed."""
        with suppress(BrokenPipeError):
            self.stdin.write(text)
            self.stdin.close()
        printed = self.stdout.read()
        self.stdout.close()
        self.wait()
        return printed, None

    def wait(self, seconds: float = PATIENCE_SECONDS) -> int:
        return self._command.wait(seconds)

    @property
    def returncode(self) -> int | None:
        return self._command.status


def _text(file: IO[bytes]) -> str:
    # Its place in the file is the command's.
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors="replace")


def start(
    program: str,
    *words: str,
    settings: Mapping[str, str] | None = None,
    umask: int | None = None,
    before: Callable[[], object] | None = None,
    stdin: int | None = None,
) -> Command:
    """Start `python -m PROGRAM WORDS`. `settings` are environment variables besides those of this process;
    `stdin` is a file of this process that it reads."""
    environment = {**os.environ, **(settings or {})}
    return Command(_Start(program, words, environment, os.getcwd(), umask, before), stdin)


def run(program: str, *words: str, settings: Mapping[str, str] | None = None) -> Command:
    """A command from its start to its end."""
    command = start(program, *words, settings=settings)
    command.wait()
    return command


def run_web(url: str, *words: str) -> Command:
    """`python -m web WORDS` on a warehouse, to its end."""
    return run("web", *words, settings={"WAREHOUSE_URL": url})


def start_job(url: str, *words: str) -> Command:
    """Start `python -m jobs WORDS` on a warehouse."""
    return start("jobs", *words, settings={"WAREHOUSE_URL": url})


def kill_at_call(
    place: str, number: int, values: Mapping[str, object] | None = None
) -> Callable[[], None]:
    """For `before`: the process kills itself where a function (MODULE.FUNCTION) is called for the n-th time.
    `values` of other names (MODULE.NAME) let that be often enough."""
    return partial(_signal_at_call, signal.SIGKILL, place, number, values or {})


def stop_at_call(place: str, number: int) -> Callable[[], None]:
    """The same, but the process stops there, until `Command.send(SIGCONT)`."""
    return partial(_signal_at_call, signal.SIGSTOP, place, number, {})


def set_values(values: Mapping[str, object]) -> None:
    """Give names of modules (MODULE.NAME) other values, in this process."""
    for name, value in values.items():
        module, _, attribute = name.rpartition(".")
        setattr(import_module(module), attribute, value)


def _signal_at_call(
    sent: signal.Signals, place: str, number: int, values: Mapping[str, object]
) -> None:
    calls, original = count(1), pkgutil.resolve_name(place)

    def counted(*args: Any, **options: Any) -> Any:
        if next(calls) == number:
            os.kill(os.getpid(), sent)
        return original(*args, **options)

    set_values({**values, place: counted})


def children(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def kill(pid: int) -> None:
    """Kill a process and its children, any of which may end by itself meanwhile."""
    for process in [psutil.Process(pid), *children(pid)]:
        with suppress(psutil.NoSuchProcess):
            process.kill()


@cache
def _warm_process() -> socket.socket:
    """The process that forks; it ends, with all that it forked, when this one does."""
    ours, its = socket.socketpair()
    process = subprocess.Popen(
        [sys.executable, "-c", _WARM.format(its.fileno())],
        cwd=ROOT,
        pass_fds=[its.fileno()],
        # A library of numpy's would start threads, which a fork loses.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    its.close()
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def become_commands(control: int) -> NoReturn:
    """Import everything, and fork what the other end of a socket asks for. Each fork ends with
    its program."""
    sys.path[0] = str(ROOT)
    for name in _IMPORTED:
        import_module(name)
    assert threading.active_count() == 1, "a thread would be missing in each fork"
    # Not looked at by the garbage collector of a fork, which would copy it.
    gc.freeze()
    start = _serve(socket.socket(fileno=control))
    sys.argv = [start.program, *start.words]
    status: object = None
    try:
        if start.before is not None:
            start.before()
        runpy.run_module(start.program, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    if isinstance(status, str):
        print(status, file=sys.stderr)
    # As Python ends, but for the freeing of each object: that would copy all of the memory that is shared.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


def _serve(control: socket.socket) -> _Start:
    """Returns in each fork, with what it is to become."""
    ended, wake = socket.socketpair()
    ended.setblocking(False)
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno())
    told: dict[int, int] = {}
    while True:
        ready = select.select([control, ended], [], [])[0]
        if ended in ready:
            ended.recv(4096)
            _tell_ended(told)
        if control not in ready:
            continue
        message, files, _, _ = socket.recv_fds(control, 1, 5)
        if not message:
            for pid in told:
                os.kill(pid, signal.SIGKILL)
            os._exit(0)
        pid = os.fork()
        # As by a shell: what it starts is in its group. Here and in the fork, since either may be first.
        os.setpgid(pid, pid)
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for file in (control, ended, wake):
                file.close()
            for other in told.values():
                os.close(other)
            return _prepared(*files)
        told[pid] = files.pop()
        for number in files:
            os.close(number)
        control.send(str(pid).encode())


def _tell_ended(told: dict[int, int]) -> None:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            pid, status = ended
            with suppress(BrokenPipeError), open(told.pop(pid), "wb") as file:
                file.write(str(os.waitstatus_to_exitcode(status)).encode())


def _prepared(request: int, source: int, output: int, errors: int, told: int) -> _Start:
    """Make this process one that has just been started."""
    with open(request, "rb") as file:
        file.seek(0)
        start: _Start = pickle.load(file)
    os.dup2(source, 0)
    os.dup2(output, 1)
    os.dup2(errors, 2)
    for number in (source, output, errors, told):
        os.close(number)
    os.environ.clear()
    os.environ.update(start.environment)
    time.tzset()
    tempfile.tempdir = None
    os.chdir(start.folder)
    if start.umask is not None:
        os.umask(start.umask)
    return start
