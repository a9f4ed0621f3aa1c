"""A release has one version, wherever it is asked for."""

import re
from pathlib import Path

from tests.jobs.pulls.server import Answer, serving
from tests.support.commands import run
from tests.support.job_commands import Commands
from tests.warehouse.migrations.stored import RELEASES
from warehouse import VERSION
from web.app import close_app, create_app

ROOT = Path(__file__).parents[2]


def test_every_door_tells_the_version(sqlite_commands: Commands) -> None:
    for said in (run("jobs", "--version"), run("web", "--version")):
        assert said.finish() == f"formrevenue {VERSION}\n"
    app = create_app(sqlite_commands.url)
    client = app.test_client()
    assert client.get("/readyz").get_json()["version"] == VERSION
    assert client.get("/v1/openapi.json").get_json()["info"]["version"] == VERSION
    close_app(app)
    with serving(lambda _asked: Answer(status=404)) as server:
        url = f"{server.url}/x.zip"
        sqlite_commands("pulls", "add", "ecb", "--url", url, "--schedule", "off")
        sqlite_commands("pull", "ecb", status=1)
    assert server.asked[0].headers["user-agent"] == f"formrevenue/{VERSION}"
    label = f"org.opencontainers.image.version={VERSION} "
    assert label in (ROOT / "Containerfile").read_text()


def test_the_changelog_has_the_version_and_the_text_of_its_tag() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased, *released = text.split("\n## ")[1:]
    assert unreleased.startswith("[Unreleased]\n")
    assert RELEASES[0] == VERSION
    for section in released:
        assert re.match(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d\n\n[A-Z]", section), (
            "a tag needs a text"
        )
