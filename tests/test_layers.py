"""The laws of the tree: web -> warehouse <- jobs, one room per library, small files, nothing left open."""

import ast
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("jobs", "tests", "warehouse", "web")
MOST_LINES = 300

# What a room must not import.
FORBIDDEN = {
    "warehouse": {"web", "jobs", "tests", "pandas", "flask"},
    "web": {"jobs", "tests", "pandas"},
    "jobs": {"web", "tests", "flask"},
}

TOP_LEVEL = {
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "jobs",
    "pyproject.toml",
    "requirements.lock",
    "tests",
    "warehouse",
    "web",
}


def modules(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def imported(source: str) -> set[str]:
    """The top-level packages that a module imports, wherever in it: statements and import_module."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that they can be read"
            found.add(node.module or "")
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("import_module", "__import__"):
                found.add(str(node.args[0].value))
    return {name.partition(".")[0] for name in found}


@pytest.mark.parametrize("room", FORBIDDEN)
def test_a_room_imports_only_what_is_its_own(room: str) -> None:
    assert modules(room)
    strays = {
        str(path.relative_to(ROOT)): sorted(found)
        for path in modules(room)
        if (found := imported(path.read_text()) & FORBIDDEN[room])
    }
    assert strays == {}


@pytest.mark.parametrize(
    "source",
    [
        "import jobs",
        "from jobs.facts import x",
        "def f():\n import jobs.cli as c",
        "import a, jobs",
        "import importlib\nimportlib.import_module('jobs.x')",
    ],
)
def test_every_way_to_import_is_seen(source: str) -> None:
    assert "jobs" in imported(source)


def test_the_top_level_is_what_a_newcomer_expects() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        names = {line.split("/")[0] for line in listed.stdout.splitlines()}
    else:  # an unpacked archive
        names = {path.name for path in ROOT.iterdir()} - {"var"}
    assert {name for name in names if not name.startswith(".")} == TOP_LEVEL


def test_no_file_holds_two_things() -> None:
    lengths = {
        str(path.relative_to(ROOT)): path.read_bytes().count(b"\n")
        for room in ROOMS
        for path in modules(room)
        # A revision is a record of what a schema was, not code to live in.
        if "versions" not in path.parts
    }
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_nothing_is_left_open() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X")
    left = [
        f"{path.relative_to(ROOT)}:{number}"
        for room in ROOMS
        for path in modules(room)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if any(mark in line for mark in marks)
    ]
    assert left == []
