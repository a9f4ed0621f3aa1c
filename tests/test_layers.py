"""The laws of the tree: web -> warehouse <- jobs, few modules at a door, one name for one thing."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("jobs", "tests", "warehouse", "web")
MAX_MODULES_AT_A_ROOT = 4

# The rooms that a room must not import.
FORBIDDEN = {
    "warehouse": {"web", "jobs", "tests", "pandas", "flask"},
    "web": {"jobs", "tests", "pandas"},
    "jobs": {"web", "tests", "flask"},
}

TOP_LEVEL = {
    "CHANGELOG.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "Containerfile",
    "LICENSE",
    "Makefile",
    "README.md",
    "compose.yaml",
    "jobs",
    "pyproject.toml",
    "requirements-audit.lock",
    "requirements-bench.lock",
    "requirements-cluster.lock",
    "requirements-dev.lock",
    "requirements.lock",
    "tests",
    "warehouse",
    "web",
}


_CLOCKS = {"time", "datetime", "jobs.run", "warehouse.domain.time.now_micros"}
_DATABASES = {"warehouse.connections", "sqlalchemy.engine", "adbc_driver_manager", "sqlite3"}
# The libraries and rooms that a folder must not import.
NARROWER = {
    "web/http": {"web.api", "web.reports"},
    "web/auth": {"flask", "web.http", "web.api", "web.reports", "web.pages"},
    "jobs/arrays": _CLOCKS | _DATABASES,
    "jobs/facts": _CLOCKS,
    "jobs/rollups": _CLOCKS | _DATABASES,
}
# The rooms of web, from the ground up: each imports only those before it.
FLOORS = (
    *("limits", "auth", "db", "http", "metrics", "api", "reports", "pages", "openapi", "dashboard"),
    *("mcp", "app", "server", "collector", "cli", "__main__"),
)

_ASKS_THE_SYSTEM = {"ZoneInfo", "available_timezones", "gettz", "tz_convert", "tz_localize"}
# The modules of jobs/facts that hold no connection.
PURE = {"__init__", "answers", "calendar", "changes", "facts", "partials", "quarters"}


def modules(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def imports_of(source: str) -> set[str]:
    """The modules that a module imports, wherever in it: statements and import_module. `from a import b`
    gives `a` and `a.b`."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that they can be read"
            names.add(node.module or "")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("import_module", "__import__"):
                names.add(str(node.args[0].value))
    return names


def imported(source: str) -> set[str]:
    """The top-level packages that a module imports."""
    return {name.partition(".")[0] for name in imports_of(source)}


def is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


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


def importers(room: str, packages: set[str]) -> dict[str, list[str]]:
    """The modules of a room that import something from these packages, with what they import."""
    found = {}
    for path in modules(room):
        names = imports_of(path.read_text())
        of_packages = [name for name in names if any(is_within(name, one) for one in packages)]
        if of_packages:
            found[path.stem] = sorted(of_packages)
    return found


@pytest.mark.parametrize("room", NARROWER)
def test_a_room_within_a_room_imports_only_what_it_may(room: str) -> None:
    assert modules(room)
    assert importers(room, NARROWER[room]) == {}


def test_no_import_inside_web_climbs() -> None:
    climbing = [
        f"{module_name(path)} imports {name}"
        for path in modules("web")
        for name in imports_of(path.read_text())
        if is_within(name, "web") and floor(name) > floor(module_name(path))
    ]
    assert climbing == []
    assert {floor(module_name(path)) for path in modules("web")} == set(range(-1, len(FLOORS)))


def floor(module: str) -> int:
    """The place of a module's room among the FLOORS; -1 for `web` itself and what it defines."""
    first = module.split(".")[1:2]
    return FLOORS.index(first[0]) if first and first[0] in FLOORS else -1


@pytest.mark.parametrize("room", ["warehouse", "jobs", "web"])
def test_no_module_is_in_a_circle_of_imports(room: str) -> None:
    """Each can be read, and imported, after those that it imports."""
    left = {module_name(path): module_imports(path) for path in modules(room)}
    while free := {name for name, needs in left.items() if not needs & left.keys()}:
        left = {name: needs for name, needs in left.items() if name not in free}
    in_circles = {name: sorted(needs & left.keys()) for name, needs in left.items()}
    assert in_circles == {}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def module_imports(path: Path) -> set[str]:
    """`from a import b` counts as the module `a.b` where it is one, and not as its package."""
    names = imports_of(path.read_text())
    inner = {name for name in names if (ROOT / f"{name.replace('.', '/')}.py").exists()}
    packages = {name.rpartition(".")[0] for name in inner}
    return (names - packages) | inner


def test_only_the_packaged_rules_of_time_zones_are_asked() -> None:
    """`ZoneInfo(name)` takes the system's files before the package's, and so do its like."""
    askers = {
        str(path.relative_to(ROOT))
        for room in ("warehouse", "jobs", "web")
        for path in modules(room)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) in _ASKS_THE_SYSTEM
    }
    assert askers == set()


def test_what_facts_are_and_how_rows_fold_into_them_needs_no_connection() -> None:
    assert {path.stem for path in modules("jobs/facts")} - PURE == set(
        importers("jobs/facts", _DATABASES)
    )


def test_only_the_declaration_of_an_endpoint_knows_flask() -> None:
    paths = [*modules("web/api"), *modules("web/reports")]
    assert len(paths) > 15
    flask = [path.name for path in paths if "flask" in imported(path.read_text())]
    assert flask == ["endpoint.py"]


@pytest.mark.parametrize("room", FORBIDDEN)
def test_few_modules_lie_at_a_door(room: str) -> None:
    at_the_root = {path.stem for path in (ROOT / room).glob("*.py")} - {"__init__", "__main__"}
    assert len(at_the_root) <= MAX_MODULES_AT_A_ROOT, at_the_root


def test_every_room_says_at_its_door_what_belongs_there() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in modules(room)
        if path.name == "__init__.py" and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_no_two_public_classes_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for room in FORBIDDEN:
        for path in modules(room):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_no_helper_lives_in_a_test_module() -> None:
    strays = {
        str(path.relative_to(ROOT)): sorted(names)
        for path in modules("tests")
        if (
            names := {
                name
                for name in imports_of(path.read_text())
                if name.startswith("tests.")
                and any(part.startswith("test_") for part in name.split(".")[:-1])
            }
        )
    }
    assert strays == {}
    assert [path.name for path in modules("tests/support") if path.name.startswith("test_")] == []


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


def test_a_figure_becomes_a_cell_in_one_place() -> None:
    """Verdicts are made of all changes of a page together: none may pass them by."""
    made = {
        path.name: path.read_text().count("changes.cell(")
        for path in modules("web/dashboard")
        if "changes.cell(" in path.read_text()
    }
    assert made == {"table.py": 1}
    writers = [path.name for path in modules("web/dashboard") if "written(" in path.read_text()]
    assert writers == ["changes.py"]


def test_sentences_begin_with_their_subject() -> None:
    """A docstring or a comment in which a sentence begins with "Of", "What" or "Who" must be read twice."""
    begins = re.compile(r"(?:^|[.:!?]\s+|\n\n|# )((?:Of|What|Who) .*)")
    strays = []
    for path in (path for room in ROOMS for path in modules(room)):
        source = path.read_text()
        texts = [line for line in source.splitlines() if line.lstrip().startswith("# ")]
        texts += [
            text
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and (text := ast.get_docstring(node))
        ]
        strays += [f"{path}: {found[1]}" for text in texts if (found := begins.search(text))]
    assert strays == []


def test_hints_name_commands_by_the_one_function() -> None:
    """`warehouse.command` alone knows how the program is called; an export names the tree of another one."""
    named = re.compile(r"python -m (jobs|web) [a-z]")
    allowed = ROOT / "warehouse/tenants/export.py"
    strays = []
    for path in (path for room in FORBIDDEN for path in modules(room) if path != allowed):
        tree = ast.parse(path.read_text())
        docs = {
            ast.get_docstring(node, clean=False)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        }
        texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        if any(isinstance(text, str) and named.search(text) for text in texts if text not in docs):
            strays.append(path)
    pages = [path for path in (ROOT / "web").rglob("*.html") if named.search(path.read_text())]
    assert strays + pages == []
