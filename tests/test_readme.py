"""What the README says is so: its commands run, its tables are complete."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from tests import demo_service
from tests.conftest import WITHOUT_NODE
from warehouse.settings import SETTINGS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
# Enough for every endpoint to have something to say.
DAYS = 21


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[demo_service.Demo]:
    url = f"sqlite:///{tmp_path_factory.mktemp('demo') / 'demo.db'}"
    with demo_service.running(url, DAYS) as service:
        yield service


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading, without its head."""
    section = README.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
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
        timeout=60,
    )
    assert finished.returncode == 0, finished.stderr
    answer = json.loads(finished.stdout)
    assert "data" in answer, answer
    return answer["data"]


def test_the_quick_start_is_two_commands() -> None:
    assert [line.split()[:2] for line in blocks("sh")[0].splitlines()] == [
        ["git", "clone"],
        ["make", "demo"],
    ]


def test_the_calls_of_the_readme_answer(demo: demo_service.Demo) -> None:
    found = [call for block in blocks("sh run") for call in calls(block)]
    assert found
    for call in found:
        assert ask(call, demo), call


def said(command: list[str], example: str, demo: demo_service.Demo) -> str:
    """What an example of the text prints, run by a command."""
    finished = subprocess.run(
        [*command, example.replace("localhost:8000", f"localhost:{demo.port}")],
        env={"KEY": demo.key, "PATH": "/usr/bin:/bin:/usr/local/bin"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (finished.returncode, finished.stderr) == (0, ""), example
    return finished.stdout


def test_the_examples_in_python_run(demo: demo_service.Demo) -> None:
    of_requests, of_pandas = blocks("python run")
    assert "Skin type quiz" in said([sys.executable, "-c"], of_requests, demo)
    assert "unattributed" in said([sys.executable, "-c"], of_pandas, demo)


def test_the_example_in_javascript_runs(demo: demo_service.Demo) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip(f"{WITHOUT_NODE}there is no `node` on the PATH")
    (example,) = blocks("js run")
    assert "0192a000-" in said([node, "--input-type=module", "--eval"], example, demo)


def test_the_calls_that_the_demo_prints_answer(demo: demo_service.Demo) -> None:
    found = calls(demo.output)
    assert found
    for call in found:
        assert ask(call.replace("curl ", "curl -s "), demo), call


def test_the_sign_in_that_the_demo_prints_works(demo: demo_service.Demo) -> None:
    said = dict(re.findall(r"^  (e-mail|password) +(\S+)$", demo.output, re.MULTILINE))
    (page,) = re.findall(r"^  (http\S+/settings/connections)$", demo.output, re.MULTILINE)
    opener = build_opener(HTTPCookieProcessor())
    form = opener.open(page, timeout=30).read().decode()
    token = re.search(r'name="csrf_token" value="([^"]+)"', form)
    assert token
    fields = {"csrf_token": token[1], "email": said["e-mail"], "password": said["password"]}
    sign_in = page.replace("connections", "sign-in")
    with opener.open(sign_in, urlencode(fields).encode(), timeout=30) as answer:
        assert answer.url == page
        shown = answer.read().decode()
    assert "Mint a key" in shown
    assert f"{demo.key[:13]}…" in shown


def test_every_make_command_is_a_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    mentioned = set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE))
    assert mentioned <= targets


def test_every_setting_is_documented_with_its_default() -> None:
    documented = {row[0]: row[1] for row in rows("Settings")}
    assert documented == {setting.name: setting.default for setting in SETTINGS}


def test_every_endpoint_is_documented() -> None:
    from web.app import create_app
    from web.openapi import views as openapi

    served = {
        (method, re.sub(r"<[^>]*>", "{id}", rule.rule))
        for rule in create_app().url_map.iter_rules()
        for method in rule.methods or ()
        if rule.rule.startswith("/v1/")
        and rule.rule != openapi.PATH
        and method in ("GET", "POST", "PUT")
    }
    assert {(row[0], row[1]) for row in rows("The API")} == served
    assert len(rows("The API")) == 19
