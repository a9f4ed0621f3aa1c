"""The READMEs and CONTRIBUTING.md are true: their commands run, their tables are complete, their links lead
somewhere."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from jobs.commands.import_files import table_of
from jobs.importing.kinds import KINDS
from tests.conftest import WITHOUT_NODE
from tests.support import demo_service, serving
from tests.support.commands import run_web
from tests.support.waiting import PATIENCE_SECONDS
from warehouse.domain.example_rows import EXAMPLE_ROWS
from warehouse.operations.conditions import counts
from warehouse.settings import SETTINGS
from warehouse.tables.base import metadata
from web.openapi.responses import EXAMPLES

ROOT = Path(__file__).parents[2]
ROOMS = ("web", "jobs", "warehouse", "tests")
TEXTS = {
    name: (ROOT / name).read_text()
    for name in ("README.md", "CONTRIBUTING.md", *(f"{room}/README.md" for room in ROOMS))
}
TOP, _, WEB, JOBS, WAREHOUSE, _ = TEXTS.values()
# Enough for every endpoint to have something to say.
DAYS = 8


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[demo_service.Demo]:
    url = f"sqlite:///{tmp_path_factory.mktemp('demo') / 'demo.db'}"
    with demo_service.running(url, DAYS) as service:
        yield service


def blocks(text: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the table under a heading, without its head."""
    section = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def calls(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip().startswith("curl ")]


def ask(call: str, demo: demo_service.Demo) -> object:
    """The `data` that a curl line of the text gets, asked of the demo service."""
    finished = subprocess.run(
        ["bash", "-euc", call.replace("localhost:8000", f"localhost:{demo.port}")],
        env={"KEY": demo.key, "PATH": "/usr/bin:/bin:/usr/local/bin"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert finished.returncode == 0, finished.stderr
    answer = json.loads(finished.stdout)
    assert "data" in answer, answer
    return answer["data"]


def test_the_way_of_an_order_names_tables_that_there_are() -> None:
    section = JOBS.split("\n## How a figure changes\n", 1)[1].split("\n## ", 1)[0]
    named = set(re.findall(r"\b(?:raw|fact|daily)_[a-z_]+", section))
    assert {"raw_order", "fact_order", "daily_attribution"} <= named <= set(metadata.tables)


def test_the_quick_start_is_two_commands() -> None:
    assert [line.split()[:2] for line in blocks(TOP, "sh")[0].splitlines()] == [
        ["git", "clone"],
        ["make", "demo"],
    ]


def test_the_calls_of_the_readme_answer(demo: demo_service.Demo) -> None:
    examples = [
        call for text in (TOP, WEB) for block in blocks(text, "sh run") for call in calls(block)
    ]
    assert examples
    for call in examples:
        assert ask(call, demo), call


def said(command: list[str], example: str, demo: demo_service.Demo) -> str:
    """The output of an example of the text, run by a command."""
    finished = subprocess.run(
        [*command, example.replace("localhost:8000", f"localhost:{demo.port}")],
        env={"KEY": demo.key, "PATH": "/usr/bin:/bin:/usr/local/bin"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert (finished.returncode, finished.stderr) == (0, ""), example
    return finished.stdout


def test_the_examples_in_python_run(demo: demo_service.Demo) -> None:
    of_requests, of_pandas = blocks(WEB, "python run")
    assert "Skin type quiz" in said([sys.executable, "-c"], of_requests, demo)
    assert "unattributed" in said([sys.executable, "-c"], of_pandas, demo)


def test_the_example_in_javascript_runs(demo: demo_service.Demo) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip(f"{WITHOUT_NODE}there is no `node` on the PATH")
    (example,) = blocks(WEB, "js run")
    assert "0192a000-" in said([node, "--input-type=module", "--eval"], example, demo)


def test_the_calls_that_the_demo_prints_answer(demo: demo_service.Demo) -> None:
    found = calls(demo.output)
    assert found
    for call in found:
        assert ask(call.replace("curl ", "curl -s "), demo), call


def test_the_link_that_the_demo_prints_signs_in_once(demo: demo_service.Demo) -> None:
    """It is the last address that is printed, but for the server's own."""
    assert "localhost" not in demo.output.partition(demo.link)[2]
    opener = build_opener(HTTPCookieProcessor())
    opener.addheaders = [("Accept", "text/html")]
    with opener.open(demo.link, timeout=PATIENCE_SECONDS) as answer:
        token = re.search(r'name="csrf_token" value="([^"]+)"', answer.read().decode())
    assert token
    button = urlencode({"csrf_token": token[1]}).encode()
    with opener.open(demo.link, button, timeout=PATIENCE_SECONDS) as answer:
        assert answer.url == f"http://localhost:{demo.port}/"
        assert "Net revenue" in answer.read().decode()
    with opener.open(f"{answer.url}settings/connections", timeout=PATIENCE_SECONDS) as answer:
        assert f"{demo.key[:13]}…" in answer.read().decode()
    with pytest.raises(HTTPError) as again:
        build_opener().open(demo.link, timeout=PATIENCE_SECONDS)
    with again.value as answer:
        assert answer.code == 404


def test_the_page_that_the_demo_prints_loads_the_snippet(demo: demo_service.Demo) -> None:
    found = re.search(r"Three forms .*\n\n  (http\S+)\n", demo.output)
    assert found, demo.output
    page = serving.await_page(found[1])
    script = re.search(r'<script async src="(\S+)" data-write-key="fwk_\w{32}">', page)
    assert script, page
    assert "window.formrevenue" in serving.await_page(script[1])


def test_the_demo_run_again_keeps_its_key_and_its_member(demo: demo_service.Demo) -> None:
    with demo_service.running(demo.url, DAYS) as again:
        assert again.key == demo.key
        assert again.link != demo.link
        trail = run_web(demo.url, "audit", "--json").output.splitlines()
    done = Counter(json.loads(line)["action"] for line in trail)
    # The member may have followed the first link.
    del done["signed_in"]
    assert done == {
        "key_minted": 1, "write_key_created": 1, "member_added": 1, "sign_in_link_created": 2,
    }  # fmt: skip


def test_the_printed_answer_is_the_demo_shops() -> None:
    (printed,) = blocks(TOP, "json")
    assert json.loads(printed) == EXAMPLES["answers"]["attribution"]["answer"]


def test_the_first_page_is_short() -> None:
    assert TOP.count("\n") <= 180


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_to_files_and_headings(name: str) -> None:
    for path, anchor in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", TEXTS[name]):
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), path
        headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE) if anchor else []
        assert not anchor or anchor in {h.lower().replace(" ", "-") for h in headings}, anchor


@pytest.mark.parametrize("name", TEXTS)
def test_every_file_that_is_named_exists(name: str) -> None:
    """So the contributor's guide names the files that an engineer will open."""
    rooms = r"`((?:jobs|web|warehouse|tests)/[\w/.]*)`"
    assert [path for path in re.findall(rooms, TEXTS[name]) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_line_at_its_door(room: str) -> None:
    rooms = {p.name for p in (ROOT / room).iterdir() if p.is_dir() and p.name != "__pycache__"}
    mentioned = set(re.findall(r"`([a-z_]+)/`", TEXTS[f"{room}/README.md"]))
    assert rooms <= mentioned


def test_every_make_command_is_a_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for text in TEXTS.values():
        assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)) <= targets


def test_every_setting_is_documented_with_its_default() -> None:
    documented = {row[0]: row[1] for row in rows(JOBS, "Settings")}
    assert documented == {setting.name: setting.default for setting in SETTINGS}


def test_every_condition_is_documented_with_what_to_do() -> None:
    """The gravest first, as `status` tells them."""
    table = rows(JOBS, "What to watch")
    table = table[: table.index(["message", "it means", "do"])]
    assert [(row[0], len(row)) for row in table] == [(condition, 3) for condition in counts([])]


@pytest.mark.parametrize("kind", KINDS)
def test_the_fields_of_a_kind_are_documented(kind: str) -> None:
    assert f"### {kind}\n" in WAREHOUSE
    assert "\n".join(table_of(KINDS[kind])) in WAREHOUSE
    assert f"```json\n{json.dumps(EXAMPLE_ROWS[kind])}\n```" in WAREHOUSE


def test_every_endpoint_is_documented() -> None:
    from web.app import create_app
    from web.openapi import views as openapi

    served = {
        (method, re.sub(r"<[^>]*>", "{id}", rule.rule))
        for rule in create_app().url_map.iter_rules()
        for method in rule.methods or ()
        if rule.rule.startswith("/v1/")
        and rule.rule != openapi.PATH
        and method in ("GET", "POST", "PUT", "DELETE")
    }
    assert {(row[1], row[2]) for row in rows(WEB, "Endpoints")} == served
    numbers = [int(row[0]) for row in rows(WEB, "Endpoints")]
    assert numbers == sorted(numbers)
