"""The README's "Nothing older than ten seconds": the warehouse is copied as it changes, and restored to any
instant of it, by Litestream and by PostgreSQL's own programs, with the settings that the README shows."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import URL, make_url

from tests.conftest import WITHOUT_LITESTREAM
from tests.support import postgres
from tests.support.commands import ROOT
from tests.support.faults.servers import own_server, owner_of, run_program
from tests.support.fixtures import commands_on
from tests.support.import_files import order
from tests.support.job_commands import SHOP, Commands
from tests.support.standby import ask
from tests.support.waiting import wait_until

README = (ROOT / "jobs" / "README.md").read_text().partition("## Nothing older than ten seconds")[2]
ORDERS = "SELECT order_id FROM raw_order ORDER BY order_id"


def settings_of(language: str) -> str:
    """The README's sample in a language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)[0]


def fill(commands: Commands, order_id: str) -> None:
    commands.take("orders", [order(order_id=order_id)])
    commands("rollup")


def now(commands: Commands) -> str:
    """By the clock that the copies have their times from."""
    kind = "now()" if "postgresql" in commands.url else "strftime('%Y-%m-%dT%H:%M:%fZ')"
    return str(commands.rows(f"SELECT {kind}")[0])


@contextmanager
def litestream(file: str, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The program and its settings, while it copies a warehouse."""
    beside = str(Path(sys.executable).parent)
    program = shutil.which("litestream", path=f"{beside}:{os.environ['PATH']}")
    if program is None:
        pytest.skip(f"{WITHOUT_LITESTREAM}there is no `litestream`")
    settings, log = tmp_path / "litestream.yml", tmp_path / "litestream.log"
    text = settings_of("yaml").replace("/backups/warehouse", str(tmp_path / "copy"))
    settings.write_text(text.replace("/srv/formrevenue/var/warehouse.db", file))
    with log.open("w") as lines:
        words = [program, "replicate", "-config", str(settings)]
        process = subprocess.Popen(words, stdout=lines, stderr=lines)
    try:
        wait_until(lambda: "snapshot complete" in log.read_text(), log.read_text)
        yield program, settings
    finally:
        # As when the machine is lost.
        process.kill()
        process.wait()


def test_litestream(sqlite_commands: Commands, tmp_path: Path) -> None:
    source = sqlite_commands.url.removeprefix("sqlite:///")
    sqlite_commands.take("shops", [SHOP])
    with litestream(source, tmp_path) as (program, settings):

        def orders_at(*when: str) -> list[str]:
            file = tmp_path / f"restored-{len(list(tmp_path.iterdir()))}.db"
            words = [program, "restore", "-config", str(settings), *when, "-o", str(file), source]
            subprocess.run(words, check=True, capture_output=True)
            with commands_on(f"sqlite:///{file}", tmp_path) as restored:
                assert "no differences" in restored("verify", "--all")
                return restored.rows(ORDERS)

        fill(sqlite_commands, "o1")
        wait_until(lambda: orders_at() == ["o1"])
        between = now(sqlite_commands)
        fill(sqlite_commands, "o2")
        wait_until(lambda: orders_at() == ["o1", "o2"])
        assert orders_at("-timestamp", between) == ["o1"]


class Archive:
    """Base backups and the log of a server, as its own account keeps them."""

    def __init__(self, server: URL, folder: Path, place: Path) -> None:
        self.server, self.folder, self.place = server, folder, place
        self.libpq = server.set(drivername="postgresql").render_as_string(hide_password=False)
        (place / "wal").mkdir()
        owner = owner_of(folder)
        for path in (place, place / "wal"):
            os.chown(path, -1 if owner is None else owner, -1)

    def take_base(self) -> None:
        words = ("-d", self.libpq, "-D", str(self.place / "base"), "-c", "fast")
        run_program(self.folder, "pg_basebackup", *words)

    @contextmanager
    def following(self) -> Iterator[None]:
        """`pg_receivewal`, until it is killed."""
        program = (self.folder / "postmaster.opts").read_text().split()[0]
        words = [
            str(Path(program).with_name("pg_receivewal")),
            "-d",
            self.libpq,
            "-S",
            "formrevenue",
        ]
        account = owner_of(self.folder)
        subprocess.run([*words, "--create-slot"], user=account, cwd="/", check=True)
        following = [*words, "-D", str(self.place / "wal"), "--synchronous"]
        process = subprocess.Popen(following, user=account, cwd="/", stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            process.kill()
            process.wait()

    @contextmanager
    def restored(self, until: str) -> Iterator[URL]:
        """The server as it was at an instant; "" is the last one."""
        data = self.place / f"restored-{len(list(self.place.iterdir()))}"
        shutil.copytree(self.place / "base", data)
        target = f"recovery_target_time = '{until}'\n" if until else ""
        text = settings_of("ini").replace("/backups/wal", str(self.place / "wal"))
        text = re.sub(r"^recovery_target_time.*\n", target, text, flags=re.MULTILINE)
        (data / "postgresql.auto.conf").write_text(text)
        (data / "recovery.signal").touch()
        owner = owner_of(self.folder)
        if owner is not None:
            for path in (data, *data.rglob("*")):
                os.chown(path, owner, -1)
        data.chmod(0o700)
        options = ("-o", f'-h "" -k {self.place}', "-l", str(data / "log"))
        run_program(self.folder, "pg_ctl", "-D", str(data), *options, "-w", "start")
        url = self.server.set(query={"host": str(self.place)})
        try:
            wait_until(lambda: ask(url, "SELECT pg_is_in_recovery()") is False)
            yield url
        finally:
            run_program(self.folder, "pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")


def test_the_log_of_postgresql(tmp_path: Path) -> None:
    place = Path(tempfile.mkdtemp(prefix="formrevenue-archive-"))
    try:
        with own_server() as (server, folder):
            _restores_both(server, folder, place, tmp_path)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _restores_both(server: URL, folder: Path, place: Path, tmp_path: Path) -> None:
    archive = Archive(server, folder, place)
    with postgres.new_database(server, "template0") as url:
        with archive.following(), commands_on(url, tmp_path) as commands:
            commands.take("shops", [SHOP])
            archive.take_base()
            fill(commands, "o1")
            between = now(commands)
            fill(commands, "o2")
            written = ask(server, "SELECT pg_current_wal_lsn()")
            is_there = f"SELECT flush_lsn >= '{written}' FROM pg_stat_replication"
            wait_until(lambda: ask(server, is_there))
        for until, expected in ((between, ["o1"]), ("", ["o1", "o2"])):
            with archive.restored(until) as restored:
                ours = restored.set(database=make_url(url).database)
                with commands_on(ours.render_as_string(hide_password=False), tmp_path) as commands:
                    assert commands.rows(ORDERS) == expected
                    assert "no differences" in commands("verify", "--all")
