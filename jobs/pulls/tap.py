"""A tap: any program that writes Singer's or Airbyte's messages, as a child process of the pull."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import IO, Any, Final

from jobs.pulls import limits
from jobs.pulls.base import Json
from jobs.pulls.limits import PullFailed
from jobs.run.signals import Stopped, raise_if_stopped

_MAX_LINE_BYTES: Final = 16 << 20
_STDERR_LINES: Final = 5
# A tap that waits for its source's rate limit may be silent for long.
_LONGEST_SILENCE_SECONDS: Final = 3600.0
# Within the time that a job has after a signal.
_GRACE_SECONDS: Final = 3.0
_LOOK_SECONDS: Final = 0.2
_FOLDER: Final = "formrevenue-tap-"
# All that programs of others see of the environment, which has secrets, also of no setting of ours
# (PGPASSWORD, AWS_...): places, languages, proxies, certificates.
_ENVIRONMENT: Final = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ"),
        *("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_NUMERIC", "LC_TIME", "LC_MESSAGES"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
        *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
        "NODE_EXTRA_CA_CERTS",
    )
)


class Tap:
    """A tap that runs. `messages` are what it writes, until it has ended well."""

    def __init__(self, command: list[str], folder: str, descriptors: Collection[int]) -> None:
        """`folder`: where it works. `descriptors`: open files that it inherits. Raises PullFailed."""
        self._program = command[0]
        # It ends with this process, however that ends, where there is the command for it.
        setpriv = shutil.which("setpriv")
        ending = [setpriv, "--pdeathsig", "TERM", "--"] if setpriv else []
        try:
            self._process = subprocess.Popen(
                [*ending, *command],
                cwd=folder,
                pass_fds=descriptors,
                env={name: value for name, value in os.environ.items() if name in _ENVIRONMENT},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # It may have children of its own.
                start_new_session=True,
            )
        except OSError as error:
            raise PullFailed(f"{self._program}: {error.strerror}") from None
        self._said: deque[str] = deque(maxlen=_STDERR_LINES)
        self._heard_at = time.monotonic()
        self._over = Event()
        assert self._process.stderr
        self._threads = [
            Thread(target=self._read_errors, args=[self._process.stderr], daemon=True),
            Thread(target=self._watch, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def messages(self) -> Iterator[Json]:
        """Each message. Raises PullFailed if one cannot be read or the tap fails, and Stopped after a
        signal."""
        assert self._process.stdout
        number = 0
        while line := self._process.stdout.readline(_MAX_LINE_BYTES + 1):
            number += 1
            self._heard_at = time.monotonic()
            if line.strip():
                try:
                    message = json.loads(line) if len(line) <= _MAX_LINE_BYTES else None
                except ValueError:
                    message = None
                if not isinstance(message, dict):
                    # The line may hold people's data: the error does not quote it.
                    raise PullFailed(f"{self._program}: line {number} of its output is no message")
                yield message
        status = self._process.wait()
        self._threads[0].join(_GRACE_SECONDS)
        raise_if_stopped()
        limits.raise_if_over()
        if time.monotonic() - self._heard_at > _LONGEST_SILENCE_SECONDS:
            raise PullFailed(f"{self._program} wrote nothing for an hour, and was ended")
        if status:
            said = " | ".join(self._said) or "it said nothing on standard error"
            raise PullFailed(f"{self._program} ended with exit status {status}: {said}")

    def end(self) -> None:
        """End the tap and its children, if it still runs."""
        self._signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_SECONDS)
        self._over.set()
        self._signal(signal.SIGKILL)
        self._process.wait()
        for thread in self._threads:
            thread.join(_GRACE_SECONDS)
        for stream in (self._process.stdout, self._process.stderr):
            assert stream
            stream.close()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _read_errors(self, stream: IO[bytes]) -> None:
        while line := stream.readline(1 << 16):
            self._heard_at = time.monotonic()
            if text := line.decode(errors="replace").strip():
                self._said.append(text)

    def _watch(self) -> None:
        """End the tap after a signal to the job, or after a long silence: its reader waits for a line."""
        while not self._over.wait(_LOOK_SECONDS):
            try:
                raise_if_stopped()
                is_late = time.monotonic() - self._heard_at > _LONGEST_SILENCE_SECONDS
            except Stopped:
                is_late = True
            if is_late or limits.is_over():
                self._signal(signal.SIGTERM)
                return


@contextmanager
def running(
    command: list[str], files: Mapping[str, Any], *, files_in_folder: bool
) -> Iterator[Tap]:
    """A tap with the options `--NAME FILE`, each file with its value as JSON; at the end the tap is ended.
    Nobody else can read its files, which are in memory; or, if `files_in_folder`, in a folder of its own,
    which is deleted then."""
    with TemporaryDirectory(prefix=_FOLDER) as folder, ExitStack() as opened:
        options, descriptors = [], []
        for name, value in files.items():
            if files_in_folder or sys.platform != "linux":
                path = f"{folder}/{name}.json"
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            else:
                descriptor = os.memfd_create(name)
                descriptors.append(descriptor)
                path = f"/dev/fd/{descriptor}"
            file = opened.enter_context(open(descriptor, "w"))
            json.dump(value, file)
            file.flush()
            options += [f"--{name}", path]
        tap = Tap([*command, *options], folder, descriptors)
        try:
            yield tap
        finally:
            tap.end()
