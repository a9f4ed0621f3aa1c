"""The lock files: what runs is what is tested."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def locked(name: str) -> dict[str, str]:
    """Each package with its version and hashes, as the file has them. On which systems it is installed may
    differ: tools need one on more of them."""
    text = re.sub(r" ; [^\\\n]+", "", (ROOT / name).read_text())
    return dict(re.findall(r"^([a-z0-9-]+)==(.+(?:\n    .+)*)", text, re.MULTILINE))


def declared(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=\[]", one)[0] for one in requirements}


def test_what_is_tested_has_the_versions_that_run() -> None:
    runs, tests = locked("requirements.lock"), locked("requirements-dev.lock")
    assert runs.items() <= tests.items()
    assert all("--hash=sha256:" in one for one in tests.values())


def test_what_runs_has_no_tools_of_the_tests() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    runs, tests = locked("requirements.lock"), locked("requirements-dev.lock")
    assert declared(project["dependencies"]) <= set(runs)
    tools = declared(project["optional-dependencies"]["dev"])
    assert tools <= set(tests)
    assert tools.isdisjoint(runs)
