"""The package as its users have it: a wheel in an environment without the tree, and an empty folder."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.support.commands import ROOT
from tests.support.serving import free_port
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.system.bill import FILE, bill

RELEASE = ROOT / "tests" / "warehouse" / "migrations" / "releases" / "0.1.0"
LINK = re.compile(r"^(?:start +\| |  )(http://\S+/settings/(?:first|sign-in)/\S+)$", re.M)


def build(source: Path, into: Path, *what: str) -> Path:
    words = [sys.executable, "-m", "build", "--no-isolation", *what, "-o", str(into), str(source)]
    subprocess.run(words, check=True, capture_output=True)
    return into


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@dataclass(frozen=True)
class Installed:
    program: Path
    folder: Path

    def environment(self, **own: str) -> dict[str, str]:
        """That of a user who has set nothing else."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return kept | own

    def run(self, *words: str, **own: str) -> str:
        done = subprocess.run(
            [self.program, *words],
            cwd=self.folder,
            env=self.environment(**own),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def serving(self, *words: str, **own: str) -> Iterator[str]:
        """The program until it has printed a link, and then its link."""
        log = self.folder / "output"
        with log.open("w") as output:
            process = subprocess.Popen(
                [self.program, *words],
                cwd=self.folder,
                env=self.environment(**own, PYTHONUNBUFFERED="1"),
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            wait_until(
                lambda: process.poll() is not None or LINK.search(log.read_text()), log.read_text
            )
            link = LINK.search(log.read_text())
            assert link, log.read_text()
            yield link[1]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def environment(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, and with the libraries of the one that runs the tests."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    (wheel,) = dist.glob("*.whl")
    pip: list[str | Path] = [
        folder / "bin" / "python",
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        wheel,
    ]
    subprocess.run(pip, check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    return folder


@pytest.fixture
def installed(environment: Path, tmp_path: Path) -> Installed:
    return Installed(environment / "bin" / "formrevenue", tmp_path)


def served(address: str) -> str:
    with urlopen(address, timeout=PATIENCE_SECONDS) as answer:
        return str(answer.read().decode())


def test_the_same_tree_and_its_sdist_make_the_same_wheel(dist: Path, tmp_path: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    (source,) = dist.glob("*.tar.gz")
    subprocess.run(["tar", "xzf", str(source), "-C", str(tmp_path)], check=True)
    (tree,) = tmp_path.iterdir()
    (again,) = build(tree, tmp_path / "again", "--wheel").glob("*.whl")
    assert again.read_bytes() == wheel.read_bytes()


def test_the_wheel_says_what_it_is_made_of(dist: Path) -> None:
    assert FILE.read_text() == bill(), "python -m tests.system.bill writes it anew"
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (packed,) = [name for name in archive.namelist() if ".dist-info/sboms/" in name]
        assert archive.read(packed) == FILE.read_bytes()
    named = {component["name"] for component in json.loads(bill())["components"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {re.split(r"[\[>=<,;]", need)[0] for need in project["dependencies"]}
    assert needed <= named


def test_the_shell_completes_commands(installed: Installed) -> None:
    script = installed.run(_FORMREVENUE_COMPLETE="bash_source")
    assert "complete" in script
    words = {"COMP_WORDS": "formrevenue sche", "COMP_CWORD": "1"}
    assert installed.run(**words, _FORMREVENUE_COMPLETE="bash_complete") == "plain,scheduler\n"
    words = {"COMP_WORDS": "formrevenue keys mi", "COMP_CWORD": "2"}
    assert installed.run(**words, _FORMREVENUE_COMPLETE="bash_complete") == "plain,mint\n"


def test_every_file_of_the_program_is_in_the_wheel(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    listed = subprocess.run(
        ["git", "ls-files", "jobs", "web", "warehouse"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    missing = {name for name in listed.stdout.split() if name not in packed}
    assert {name for name in missing if "/screenshots/" not in name} == set()


def test_a_demo_from_an_empty_folder(installed: Installed) -> None:
    port = free_port(3)
    with installed.serving("demo", "--days", "2", PORT=str(port)) as link:
        assert "demo@example.com" in served(link)
        assert "swagger" in served(f"http://localhost:{port}/docs").lower()
        assert "Demo Botanicals" in served(f"http://localhost:{port + 2}/")
    assert {path.name for path in installed.folder.iterdir()} == {"output", "var"}
    output = (installed.folder / "output").read_text()
    # The link stays in sight: nothing but the end comes after it.
    assert output.partition(link)[2].split() == [
        "SIGINT",
        "received:",
        "stopping",
        "after",
        "the",
        "current",
        "batch",
    ]


def test_start_makes_its_secrets_and_lets_the_first_member_in(installed: Installed) -> None:
    port = free_port(2)
    own = {"PORT": str(port), "COLLECT_PORT": str(port + 1), "DATA_DIR": "data"}
    with installed.serving("start", **own) as link:
        assert "You are the first here" in served(link)
        assert "currentScript" in served(f"http://localhost:{port + 1}/formrevenue.js")
    key = installed.folder / "data" / "credentials.key"
    assert key.stat().st_mode & 0o777 == 0o600
    own = {"DATA_DIR": "data"}
    (installed.folder / "data" / "app.json").write_text('{"client_id": "a", "client_secret": "b"}')
    installed.run("shops", "add", "lamps.myshopify.com", "--currency", "EUR", **own)
    words = ("--shop", "lamps.myshopify.com", "--credentials", "data/app.json")
    assert "shopify" in installed.run("pulls", "add", "shopify", *words, **own)
    assert {path.name for path in installed.folder.iterdir()} == {"output", "data"}


def test_a_warehouse_of_the_first_release_is_taken_over(installed: Installed) -> None:
    backup = installed.folder / "warehouse.backup"
    backup.write_bytes(gzip.decompress((RELEASE / "sqlite.backup.gz").read_bytes()))
    installed.run("restore", str(backup))
    assert "rolled up" in installed.run("rollup")
    assert "no differences" in installed.run("verify", "--all")


def test_hints_name_the_program_as_it_is_installed(installed: Installed) -> None:
    undo = subprocess.run(
        [installed.program, "imports", "undo", "5"],
        cwd=installed.folder,
        env=installed.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert undo.stderr == "Error: no import 5; `formrevenue imports list` shows all\n"


def test_the_help_has_every_command_in_its_own_words(installed: Installed) -> None:
    for program in ("jobs", "web"):
        of_program = subprocess.run(
            [sys.executable, "-m", program, "--help"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        for line in of_program.stdout.partition("Show this message and exit.")[2].splitlines():
            assert line in installed.run("--help").splitlines()
