"""A tap as others publish it: installed from the package index, and run against a server on loopback."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.jobs.pulls.server import Answer, Asked, serving
from tests.support.job_commands import SHOP, Commands

TAP = "tap-rest-api-msdk==1.4.2"
TOKEN = "token-of-the-ad-platform"
KEY = "bXkgdmVyeSBzZWNyZXQga2V5IG9mIDMyIGJ5dGVzIS4="
DAYS = [
    {
        "id": "c1",
        "name": "Spring",
        "day": f"2026-11-0{day}",
        "cost": f"{day}.25",
        "shown": 9,
        "clicked": 1,
    }
    for day in (1, 2, 3)
]
FIELDS = {
    "campaign_id": "id",
    "campaign_name": "name",
    "date": "day",
    "spend": "cost",
    "impressions": "shown",
    "clicks": "clicked",
}


def platform(asked: Asked) -> Answer:
    if asked.headers.get("authorization") != f"Bearer {TOKEN}":
        return Answer(status=401, body=b"{}")
    return Answer(
        body=json.dumps({"data": DAYS}).encode(), headers={"Content-Type": "application/json"}
    )


@pytest.fixture(scope="module")
def tap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tap")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "--quiet", TAP], check=True)
    return folder / "bin" / "tap-rest-api-msdk"


@pytest.mark.deep
def test_its_records_are_imported(sqlite_commands: Commands, tap: Path, tmp_path: Path) -> None:
    commands = sqlite_commands
    commands.take("shops", [SHOP])
    commands.settings["CREDENTIALS_KEY"] = KEY
    stream = {"name": "days", "path": "/days", "primary_keys": ["id", "day"]}
    with serving(platform) as server:
        config = {
            "command": [str(tap)],
            "config": {
                "api_url": server.url,
                "streams": [{**stream, "records_path": "$.data[*]"}],
                "auth_method": "bearer_token",
            },
            "ad_account": {"provider": "pinterest"},
            "streams": {
                "days": {
                    "kind": "ad-spend",
                    "values": {"provider": "pinterest", "currency": "EUR"},
                    "fields": FIELDS,
                }
            },
        }
        for token, status in (("wrong" + TOKEN, 1), (TOKEN, 0)):
            options = []
            for name, value in (("config", config), ("credentials", {"bearer_token": token})):
                file = tmp_path / f"{name}.json"
                file.write_text(json.dumps(value))
                options += [f"--{name}", str(file)]
            commands("pulls", "add", "singer", "--name", "ads", *options)
            printed = commands("pull", "singer", status=status)
            assert token not in printed
            assert token not in commands("status", "--json", status=status)
    assert "pulled ads: 3 rows" in printed
    commands("landing")
    assert commands.rows("SELECT day - 20758, spend FROM ad_spend ORDER BY day") == [
        (0, "1.25"),
        (1, "2.25"),
        (2, "3.25"),
    ]
    assert commands.rows("SELECT provider, status, message FROM ad_account") == [
        ("pinterest", "ok", "")
    ]
