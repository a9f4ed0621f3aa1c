"""Programs on the hosts, as their users start them: PostgreSQL, a Dask cluster with certificates, jobs."""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from sqlalchemy import URL, make_url

from tests.support import postgres
from tests.system.hosts.network import SUBNET, Host

START_SECONDS: Final = 300
_PRELOAD: Final = ("--preload", "jobs.executors.dask_setup")
_DASK_PORT: Final = 8786
# An account that every system has, since PostgreSQL does not run as root.
_ACCOUNT: Final = "nobody"
_FAST: Final = ("-c", "fsync=off", "-c", "autovacuum_naptime=1h", "-c", "max_wal_size=4GB")


def wait_until(is_so: Callable[[], object], seconds: float = START_SECONDS) -> float:
    """Wait until something is so; returns the seconds that this took."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() < began + seconds, f"not within {seconds:.0f} s"
        time.sleep(0.1)
    return time.monotonic() - began


class Postgres:
    """A server on a host. The tests reach it by a socket in its folder, as a file; hosts by the network."""

    def __init__(self, host: Host, folder: Path) -> None:
        self.host, self._folder, self._data = host, folder, folder / "data"
        self._programs = postgres.own_programs()
        shutil.chown(folder, _ACCOUNT)
        options = ("--auth", "trust", "--username", "postgres", "--no-locale", "--encoding", "UTF8")
        subprocess.run(
            [self._programs / "initdb", *options, "--pgdata", self._data],
            user=_ACCOUNT,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        with (self._data / "pg_hba.conf").open("a") as access:
            access.write(f"host all all {SUBNET}.0/24 trust\n")
        self.server = URL.create(
            "postgresql+psycopg", "postgres", database="postgres", query={"host": str(folder)}
        )
        self.start()

    def url_for_hosts(self, url: str) -> str:
        """The address by which hosts reach a database, from that of the tests."""
        there = make_url(url).set(host=self.host.address, query={})
        return there.render_as_string(hide_password=False)

    def start(self) -> None:
        self._process = self.host.start(
            *(str(self._programs / "postgres"), "-D", str(self._data), "-k", str(self._folder)),
            *("-h", "*", *_FAST),
            log=self._folder / "log",
            settings={},
            user=_ACCOUNT,
        )
        wait_until(self._answers)

    def restart(self) -> None:
        """Break off all that the server does, and start it again."""
        self.host.send(signal.SIGQUIT, int((self._data / "postmaster.pid").read_text().split()[0]))
        self._process.wait(START_SECONDS)
        self.start()

    def _answers(self) -> bool:
        ready: list[str | Path] = [
            self._programs / "pg_isready",
            "-q",
            "-h",
            self._folder,
            "-U",
            "postgres",
        ]
        return subprocess.run(ready).returncode == 0


class Authority:
    """Certificates of one authority, made as `jobs/README.md` says."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        key, authority, request = (folder / name for name in ("ca.key", "ca.crt", "host.csr"))
        new_key = ("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout")
        named = ("-subj", "/CN=formrevenue cluster")
        _quietly(*new_key, key, "-x509", "-days", "2", *named, "-out", authority)
        _quietly(*new_key, folder / "host.key", "-subj", "/CN=formrevenue", "-out", request)
        signed_by = ("-CA", authority, "-CAkey", key, "-CAcreateserial")
        signed = ("openssl", "x509", "-req", *signed_by, "-days", "2", "-in", request, "-out")
        _quietly(*signed, folder / "host.crt")
        self.settings = {
            "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True",
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(authority),
        }
        for role in ("SCHEDULER", "WORKER", "CLIENT"):
            prefix = f"DASK_DISTRIBUTED__COMM__TLS__{role}"
            self.settings |= {
                f"{prefix}__CERT": str(folder / "host.crt"),
                f"{prefix}__KEY": str(folder / "host.key"),
            }


def _quietly(*command: str | Path) -> None:
    subprocess.run(command, check=True, capture_output=True)


class Job:
    """A command of the jobs, on a host."""

    def __init__(self, host: Host, folder: Path, settings: Mapping[str, str], *words: str) -> None:
        self._log = folder / f"{host.name}-{'-'.join(words[:1])}-{len(list(folder.iterdir()))}.log"
        command = (sys.executable, "-m", "jobs", *words)
        self._process = host.start(*command, log=self._log, settings=settings)

    def finish(self, seconds: float, status: int = 0) -> str:
        """Wait for the end of the command; returns what it printed."""
        self._process.wait(seconds)
        assert self._process.returncode == status, self.printed()
        return self.printed()

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def printed(self) -> str:
        return self._log.read_text()


class DaskCluster:
    """A scheduler on a host, and workers, one on each of others. `settings` are those of all."""

    def __init__(self, scheduler: Host, folder: Path, settings: Mapping[str, str]) -> None:
        self.scheduler, self._folder, self._settings = scheduler, folder, dict(settings)
        self.address = f"tls://{scheduler.address}:{_DASK_PORT}"
        where = ("--host", "tls://0.0.0.0", "--dashboard-address", "127.0.0.1:8787")
        process = self._start(scheduler, {}, "scheduler", *where)
        wait_until(lambda: process.poll() or "Scheduler at" in self.printed(scheduler))
        assert process.poll() is None, self.printed(scheduler)

    def start_worker(self, host: Host, **settings: str) -> None:
        words = (self.address, "--nthreads", "1", "--no-dashboard", "--memory-limit", "2GB")
        self._start(host, settings, "worker", *words)

    def wait_for_workers(self, count: int) -> None:
        wait_until(lambda: self.printed(self.scheduler).count("Register worker") >= count)

    def printed(self, host: Host) -> str:
        """All that the programs on a host have printed."""
        return self._log(host).read_text()

    def _start(
        self, host: Host, settings: Mapping[str, str], *words: str
    ) -> "subprocess.Popen[bytes]":
        # In a folder that hosts share, each would take those of the others for left behind.
        own = {"DASK_TEMPORARY_DIRECTORY": str(self._folder / host.name)}
        return host.start(
            *(sys.executable, "-m", "dask", *words, *_PRELOAD),
            log=self._log(host),
            settings={**self._settings, **own, **settings},
        )

    def _log(self, host: Host) -> Path:
        return self._folder / f"{host.name}.log"
