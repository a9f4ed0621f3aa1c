"""Pulls as they are set up, listed, scheduled and shown; what they fetch is in the tests of each source."""

import json
import os
from pathlib import Path

import pytest

from tests.jobs.pulls.rates import packed
from tests.jobs.pulls.server import Answer, serving
from tests.support.job_commands import Commands


def test_none_is_set_up_by_itself(commands: Commands) -> None:
    report = commands.status()
    assert report["pulls"] == []
    assert [job["job"] for job in report["schedule"]] == [
        "nightly",
        "refresh",
        "verify",
        "purge",
        "landing",
        "dropped",
    ]


def test_added_listed_changed_removed(commands: Commands) -> None:
    assert commands("pulls", "add", "ecb") == "ecb: 30 16 * * *\n"
    assert commands("pulls", "list") == "ecb  ecb  -  30 16 * * *  never ran\n"
    (job,) = [job for job in commands.status()["schedule"] if job["job"] == "pull:ecb"]
    assert (job["command"], job["when"]) == ("pull ecb --name ecb", "30 16 * * * (UTC)")
    commands("pulls", "add", "ecb", "--schedule", "off", "--url", "http://127.0.0.1:9/x.zip")
    assert commands("pulls", "list") == "ecb  ecb  -  off  never ran\n"
    # Options that are not given stay.
    commands("pulls", "add", "ecb", "--schedule", "0 17 * * 1-5")
    assert commands.rows("SELECT config, schedule FROM pull") == [
        ('{"url": "http://127.0.0.1:9/x.zip"}', "0 17 * * 1-5")
    ]
    assert "pull ecb: never ran" in commands("status")
    commands("pulls", "remove", "ecb")
    assert commands("pulls", "list") == ""
    assert "no pull 'ecb'" in commands("pulls", "remove", "ecb", status=1)


@pytest.mark.parametrize(
    ("arguments", "words", "status"),
    [
        (("--schedule", "daily"), "'daily': must be a cron expression of five fields", 2),
        (("--name", "a b"), "'a b' cannot be the name of a pull", 1),
        (
            ("--url", "http://example.com/x.zip"),
            "'http://example.com/x.zip' must begin with https://",
            1,
        ),
        (("--url", "file:///etc/passwd"), "must begin with https://", 1),
        (("--lookback", "-1"), "-1 is not in the range", 2),
    ],
)
def test_what_cannot_be_set_up_is_refused(
    sqlite_commands: Commands, arguments: tuple[str, ...], words: str, status: int
) -> None:
    assert words in sqlite_commands("pulls", "add", "ecb", *arguments, status=status)
    assert sqlite_commands("pulls", "list") == ""


def test_an_unknown_option_of_a_configuration_is_refused(
    sqlite_commands: Commands, tmp_path: Path
) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"adress": "x"}))
    printed = sqlite_commands("pulls", "add", "ecb", "--config", str(file), status=1)
    assert "contains unknown field `adress`" in printed
    file.write_text("top secret")
    printed = sqlite_commands("pulls", "add", "ecb", "--credentials", str(file), status=2)
    assert "the file must hold a JSON object" in printed
    assert "top secret" not in printed


def test_the_scheduler_runs_what_is_set_up_while_it_runs(commands: Commands) -> None:
    with serving(lambda _asked: Answer(body=packed())) as server:
        scheduler = commands.start_scheduler()
        commands("pulls", "add", "ecb", "--url", f"{server.url}/x.zip", "--schedule", "0 0 1 1 *")
        commands.wait_until("SELECT COUNT(*) FROM pull WHERE status = 'ok'")
        scheduler.terminate()
        output = scheduler.finish()
    assert "pull:ecb: jobs pull ecb --name ecb, 0 0 1 1 * (UTC)" in output
    assert [run["state"] for run in commands.status()["runs"] if run["job"] == "pull:ecb"] == [
        "done"
    ]
    assert len(server.asked) == 1


def test_a_pull_runs_by_its_job_s_name_and_once_at_a_time(commands: Commands) -> None:
    with serving(lambda _asked: Answer(body=packed())) as server:
        commands("pulls", "add", "ecb", "--url", f"{server.url}/x.zip")
        assert '"job": "pull:ecb", "message": "pulled ecb: 2 rows' in commands("run", "pull:ecb")
        commands.run_elsewhere()
        assert "pull:ecb is already running (elsewhere:1)" in commands("pull", "ecb", status=75)
        assert len(server.asked) == 1


def test_pulled_files_go_in_time(commands: Commands) -> None:
    """They have what the source has of persons. Files of people stay, and what could not be imported."""
    commands.settings["LANDED_DAYS"] = "7"
    with serving(lambda _asked: Answer(body=packed())) as server:
        commands("pulls", "add", "ecb", "--url", f"{server.url}/x.zip")
        commands("pull", "ecb")
        commands("landing")
        (pulled,) = (commands.landing / "exchange-rates/ecb/done").glob("pulled-ecb~*.csv")
        own = commands.land("exchange-rates/ecb/done", "pulled-by-hand.csv", b"")
        failed = commands.land("exchange-rates/ecb/failed", pulled.name, b"")
        commands("pull", "ecb", "--name", "ecb")
    # As pulls that were killed leave them, of which this one was removed; and as others may.
    aside = commands.land("exchange-rates/ecb", ".pulled-gone.part", b"")
    others = commands.land("exchange-rates/ecb", ".mine.part", b"")
    report = pulled.with_name(f"{pulled.name}.report.json")
    assert commands("purge").endswith(" 0 files\n")
    for path in (pulled, report, aside, own, failed, others):
        os.utime(path, (1, 1))
    assert commands("purge").endswith(" 3 files\n")
    assert [path.exists() for path in (pulled, report, aside)] == [False] * 3
    assert [path.exists() for path in (own, failed, others)] == [True] * 3
