"""The kit to run it: Containerfile, compose.yaml and the units of systemd name what exists.

Without root or a daemon nothing is built here. Each command is asked for its help with all of its options,
and each variable must be a setting.
"""

import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from tests.conftest import WITHOUT_DISTRIBUTED, WITHOUT_SYSTEMD
from tests.support.commands import run
from tests.support.waiting import PATIENCE_SECONDS
from warehouse.settings import SETTINGS

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
CONTAINERFILE = (ROOT / "Containerfile").read_text().replace("\\\n", " ")
UNITS = {unit.name: unit.read_text() for unit in sorted((ROOT / "jobs/systemd").iterdir())}
OURS = {name: of for name, of in COMPOSE["services"].items() if of["image"] == "formrevenue"}
PYTHON = "/srv/formrevenue/.venv/bin/python"
# The exposure of a unit by `systemd-analyze security`, in tenths: 15 today, and 96 without any protection.
MAX_EXPOSURE = 20


def words(command: str) -> list[str]:
    """The arguments of a unit's command after `python -m`, without what systemd puts in."""
    return re.sub(r"\$\{\w+\}|%\w", "x", command).split()


# They do their work once and end.
ONCE = {name for name, of in OURS.items() if of["restart"] == "no"}
COMMANDS = {name: of["command"] for name, of in OURS.items() if "command" in of} | {
    name: words(re.findall(rf"^ExecStart={PYTHON} -m (.*)$", unit, re.MULTILINE)[0])
    for name, unit in UNITS.items()
}


def settings_of(names: list[str]) -> set[str]:
    """The names that are neither a setting, nor its file, nor Dask's or PostgreSQL's own."""
    known = {setting.name for setting in SETTINGS}
    others = ("DASK_", "POSTGRES_")
    return {
        name
        for name in names
        if name.removesuffix("_FILE") not in known and not name.startswith(others)
    }


OF_DASK = {name: words for name, words in COMMANDS.items() if words[0].startswith("distributed.")}


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - OF_DASK.keys()))
def test_every_command_exists_with_its_options(name: str) -> None:
    # An option that does not exist is an error, `--help` or not.
    assert run(*COMMANDS[name], "--help").finish().startswith("Usage: ")


def test_every_command_of_dask_exists_with_its_options() -> None:
    """In this process: each would take two seconds to begin."""
    if find_spec("distributed") is None:
        pytest.skip(f"{WITHOUT_DISTRIBUTED}it is the extra `cluster`")
    for module, *options in OF_DASK.values():
        answer = CliRunner().invoke(import_module(module).main, [*options, "--help"])
        assert answer.exit_code == 0, answer.output
        assert answer.output.startswith("Usage: ")


@pytest.mark.parametrize("name", OURS)
def test_every_variable_of_a_container_is_a_setting(name: str) -> None:
    assert settings_of(list(OURS[name].get("environment", ()))) == set()


@pytest.mark.parametrize("name", UNITS)
def test_every_variable_of_a_unit_is_a_setting(name: str) -> None:
    assert settings_of(re.findall(r"^Environment=(\w+)=", UNITS[name], re.MULTILINE)) == set()


def test_every_variable_of_dask_is_in_its_configuration() -> None:
    if find_spec("distributed") is None:
        pytest.skip(f"{WITHOUT_DISTRIBUTED}it is the extra `cluster`")
    import dask
    import distributed  # noqa: F401  (it declares the configuration)

    names = {
        name
        for of in OURS.values()
        for name in of.get("environment", ())
        if name.startswith("DASK_")
    }
    assert names
    for name in names:
        # Raises KeyError.
        dask.config.get(name.removeprefix("DASK_").lower().replace("__", "."))


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_every_container_is_hardened_and_has_a_health_check(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    # The image's own asks the API.
    assert "healthcheck" in service or name in ONCE or service["command"] == ["web", "serve"]
    assert "HEALTHCHECK" in CONTAINERFILE
    # Secrets come as files; public addresses are none.
    shown = [key for key in service.get("environment", ()) if re.search("PASSWORD|SECRET|URL", key)]
    public = ("PUBLIC_URL", "COLLECT_URL")
    assert [key for key in shown if not key.endswith("_FILE") and key not in public] == []


def test_every_volume_is_declared() -> None:
    for service in COMPOSE["services"].values():
        named = {volume.split(":")[0] for volume in service.get("volumes", ())}
        assert {name for name in named if name.isidentifier()} <= set(COMPOSE["volumes"])


def test_every_file_of_the_image_exists_and_is_sent_to_the_builder() -> None:
    defaults = dict(re.findall(r"^ARG (\w+)=(\S+)$", CONTAINERFILE, re.MULTILINE))
    copied = {
        re.sub(r"\$\{(\w+)\}", lambda match: defaults[match[1]], source)
        for source in re.findall(r"^COPY (?!--from)(\S+) \S+$", CONTAINERFILE, re.MULTILINE)
    }
    assert copied == {"requirements.lock", "warehouse", "jobs", "web"}
    sent = (ROOT / ".dockerignore").read_text().splitlines()
    for source in copied:
        assert (ROOT / source).exists()
        assert any(Path(source).match(line[1:]) for line in sent if line.startswith("!"))


def test_the_image_runs_as_nobody_in_particular() -> None:
    final = CONTAINERFILE.rpartition("\nFROM ")[2]
    (user,) = re.findall(r"^USER (\d+):\d+$", final, re.MULTILINE)
    assert f"--uid {user} " in final
    assert "--require-hashes" in CONTAINERFILE


@pytest.fixture
def analyze(tmp_path: Path) -> list[str]:
    """`systemd-analyze`, beside units whose program exists."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip(f"{WITHOUT_SYSTEMD}there is no `systemd-analyze` on the PATH")
    for name, unit in UNITS.items():
        (tmp_path / name).write_text(unit.replace(PYTHON, sys.executable))
    return [program]


def said(command: list[str]) -> tuple[int, str]:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        env={**os.environ, "LC_ALL": "C"},
    )
    return done.returncode, done.stdout + done.stderr


def test_systemd_understands_every_line_of_a_unit(analyze: list[str], tmp_path: Path) -> None:
    units = [str(tmp_path / name) for name in UNITS]
    assert said([*analyze, "verify", "--man=no", *units]) == (0, "")


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_may_do_little(name: str, analyze: list[str], tmp_path: Path) -> None:
    options = ["--offline=true", f"--threshold={MAX_EXPOSURE}"]
    status, text = said([*analyze, "security", *options, str(tmp_path / name)])
    assert status == 0, text


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_every_container_has_limits(name: str) -> None:
    service = COMPOSE["services"][name]
    assert re.fullmatch(r"\$\{\w*MEMORY:-\d+g\}", service["mem_limit"])
    assert service["pids_limit"] > 0
    assert all(re.search(":size=[0-9]+m$", place) for place in service["tmpfs"])


def test_images_have_a_whole_version() -> None:
    database = COMPOSE["services"]["database"]["image"]
    caddy = COMPOSE["services"]["caddy"]["image"]
    (base,) = re.findall(r"^ARG BASE=(.*)$", CONTAINERFILE, re.MULTILINE)
    for image in (database, caddy, base):
        assert re.search(r":\d+(\.\d+)+[\w-]*\}?$", image), image


def test_the_image_keeps_no_installer() -> None:
    assert ".venv/bin/pip uninstall -qqy setuptools pip" in CONTAINERFILE
