"""Taps: programs that write Singer's or Airbyte's messages, as processes of their own."""

import json
import os
import signal
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.job_commands import SHOP, Commands
from tests.support.waiting import wait_until

PROGRAM = Path(__file__).with_name("tap_program.py")
TOKEN = "EAAB-token/with+signs"
KEY = "bXkgdmVyeSBzZWNyZXQga2V5IG9mIDMyIGJ5dGVzIS4="
SPEND = {
    "kind": "ad-spend",
    "values": {"provider": "meta", "currency": "EUR"},
    "fields": {
        "account_id": "account",
        "campaign_id": "campaign.id",
        "campaign_name": "campaign.name",
        "date": "day",
        "spend": "cost",
        "impressions": "shown",
        "clicks": "clicked",
    },
}
RECORD = {
    "account": "1",
    "campaign": {"id": "c1", "name": "Spring"},
    "day": "2026-11-01",
    "cost": 12.5,
    "shown": 1000,
    "clicked": 20,
}
MESSAGES: list[Any] = [
    {"type": "SCHEMA", "stream": "days", "schema": {}, "key_properties": []},
    {"type": "RECORD", "stream": "days", "record": RECORD},
    {"type": "RECORD", "stream": "other", "record": {"x": 1}},
    {"type": "STATE", "value": {"bookmarks": {"days": "2026-11-01"}}},
]
INSIGHT = {
    "account_id": "1",
    "campaign_id": "c2",
    "campaign_name": "Autumn",
    "date_start": "2026-11-01",
    "date_stop": "2026-11-01",
    "account_currency": "EUR",
    "spend": "1.50",
    "impressions": "10",
    "clicks": "1",
}
STORED = "SELECT provider, account_id, campaign_id, spend FROM ad_spend"
ACCOUNTS = "SELECT provider, account_id, status, message FROM ad_account"


class Taps:
    """A shop with one pull, `ads`, of a tap that does what `add` says."""

    def __init__(self, commands: Commands) -> None:
        self.commands = commands
        self.seen_file = commands.folder / "seen.json"
        commands.take("shops", [SHOP])
        commands.settings["CREDENTIALS_KEY"] = KEY

    def add(self, *, status: int = 0, lookback: int = 28, **changes: Any) -> str:
        tap = {"seen": str(self.seen_file), "messages": MESSAGES} | changes.pop("tap", {})
        config = {
            "command": [sys.executable, str(PROGRAM)],
            "config": tap,
            "streams": {"days": SPEND},
            "ad_account": {"provider": "meta", "account_id": "1"},
        } | changes
        files = []
        for name, value in (("config", config), ("credentials", {"access_token": TOKEN})):
            file = self.commands.folder / f"{name}.json"
            file.write_text(
                json.dumps({key: each for key, each in value.items() if each is not None})
            )
            files += [f"--{name}", str(file)]
        options = (*files, "--name", "ads", "--lookback", str(lookback))
        printed = self.commands("pulls", "add", "singer", *options, status=status)
        for name in ("config", "credentials"):
            (self.commands.folder / f"{name}.json").unlink()
        return printed

    def pull(self, status: int = 0) -> str:
        return self.commands("pull", "singer", status=status)

    @property
    def seen(self) -> dict[str, Any]:
        seen: dict[str, Any] = json.loads(self.seen_file.read_text())
        return seen

    def landed(self, kind: str = "ad-spend") -> list[Path]:
        return [path for path in (self.commands.landing / kind).rglob("*") if path.is_file()]

    def start(self) -> Any:
        """Start a pull whose tap waits; returns its process once the tap has begun."""
        process = self.commands.start("pull", "singer")
        wait_until(self.seen_file.exists)
        return process


@pytest.fixture
def taps(sqlite_commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Taps:
    """With a folder for temporary files that no other test's taps use."""
    own = tmp_path / "temporary"
    own.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    sqlite_commands.settings["TMPDIR"] = str(own)
    return Taps(sqlite_commands)


def folders() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("formrevenue-tap-*"))


def test_a_stream_becomes_rows_of_a_kind(taps: Taps) -> None:
    taps.add()
    assert "pulled ads: 1 rows" in taps.pull()
    taps.commands("landing")
    assert taps.commands.rows(STORED) == [("meta", "1", "c1", "12.5")]
    assert taps.commands.rows(ACCOUNTS) == [("meta", "1", "ok", "")]
    assert (taps.seen["state"], taps.seen["catalog"]) == (None, None)
    assert taps.seen["config"]["access_token"] == TOKEN
    # The tap gets its own last state again.
    taps.add(catalog={"streams": []})
    taps.pull()
    assert taps.seen["state"] == {"bookmarks": {"days": "2026-11-01"}}
    assert taps.seen["catalog"] == {"streams": []}


def test_a_stream_of_a_format_stays_as_it_is(taps: Taps) -> None:
    message = {"type": "RECORD", "stream": "insights", "record": INSIGHT}
    taps.add(tap={"messages": [message]}, streams={"insights": {"format": "meta"}})
    taps.pull()
    (file,) = taps.landed()
    assert file.parent == taps.commands.landing / "ad-spend" / "meta" / "a.example"
    taps.commands("landing")
    assert taps.commands.rows(STORED) == [("meta", "1", "c2", "1.5")]


def test_messages_of_airbyte(taps: Taps) -> None:
    def state(name: str, cursor: str) -> dict[str, Any]:
        stream = {"stream_descriptor": {"name": name}, "stream_state": {"cursor": cursor}}
        return {"type": "STREAM", "stream": stream}

    messages = [
        {"type": "LOG", "log": {"level": "INFO", "message": "begins"}},
        {"type": "RECORD", "record": {"stream": "days", "data": RECORD, "emitted_at": 1}},
        {"type": "STATE", "state": state("days", "1")},
        {"type": "STATE", "state": state("other", "1")},
        {"type": "STATE", "state": state("days", "2")},
    ]
    taps.add(tap={"messages": messages})
    taps.pull()
    taps.commands("landing")
    assert taps.commands.rows(STORED) == [("meta", "1", "c1", "12.5")]
    # A stream that says nothing more keeps its state.
    taps.add(tap={"messages": [{"type": "STATE", "state": state("days", "3")}]})
    taps.pull()
    assert taps.seen["state"] == [state("days", "2"), state("other", "1")]
    taps.pull()
    assert taps.seen["state"] == [state("days", "3"), state("other", "1")]


def test_flat_names_with_dots(taps: Taps) -> None:
    """Airbyte's stream of Google Ads has `campaign.id` as the name of one member."""
    flat: dict[str, Any] = {**RECORD, "campaign.id": "c9", "campaign.name": "Spring"}
    del flat["campaign"]
    message = {"type": "RECORD", "record": {"stream": "days", "data": flat}}
    taps.add(tap={"messages": [message]})
    taps.pull()
    taps.commands("landing")
    assert taps.commands.rows(STORED) == [("meta", "1", "c9", "12.5")]


def test_the_lookback_takes_the_place_of_the_state(taps: Taps) -> None:
    taps.add(tap={"start_date": "2020-01-01"}, lookback_field="start_date", lookback=3)
    taps.pull()
    assert taps.seen["config"]["start_date"] == "2020-01-01"
    state = json.loads(taps.commands.rows("SELECT state FROM pull")[0])
    state["began_at"] = "2026-11-20T04:20:00+00:00"
    taps.commands.change(
        f"UPDATE pull SET state = '{json.dumps(state).replace(':', chr(92) + ':')}'"
    )
    taps.pull()
    assert taps.seen["config"]["start_date"] == "2026-11-17T00:00:00Z"
    assert taps.seen["state"] is None


@pytest.mark.parametrize(
    ("tap", "reason"),
    [
        (
            {"status": 2, "says": ["Traceback", "HTTP 401 for https://x/?token=TOKEN"]},
            "ended with exit status 2: Traceback | HTTP 401 for https://x/?token=***",
        ),
        ({"status": 1}, "ended with exit status 1: it said nothing on standard error"),
        ({"messages": [*MESSAGES, "no message"]}, "line 5 of its output is no message"),
        (
            {
                "messages": [
                    *MESSAGES,
                    {
                        "type": "TRACE",
                        "trace": {"type": "ERROR", "error": {"message": "no access"}},
                    },
                ]
            },
            "the tap says: no access",
        ),
    ],
)
def test_a_tap_that_fails(taps: Taps, tap: dict[str, Any], reason: str) -> None:
    taps.add()
    taps.pull()
    taps.commands("landing")
    before, state = taps.landed(), taps.commands.rows("SELECT state FROM pull")
    taps.add(tap=tap)
    assert reason in taps.pull(status=1)
    assert taps.landed() == before
    assert taps.commands.rows("SELECT state FROM pull") == state
    taps.commands("landing")
    ((_, _, status, message),) = taps.commands.rows(ACCOUNTS)
    assert status == "error"
    assert reason in message
    assert reason in taps.commands("status", status=1)
    assert folders() == set()


def test_a_program_that_is_not_there(taps: Taps) -> None:
    taps.add(command=["/nowhere/tap"])
    assert "/nowhere/tap: No such file or directory" in taps.pull(status=1)


def test_the_secrets_are_nobody_else_s(taps: Taps) -> None:
    secrets = dict.fromkeys(("SHOPIFY_CLIENT_SECRET", "PGPASSWORD", "AWS_KEY"), "not-for-taps")
    taps.commands.settings |= {**secrets, "HTTPS_PROXY": "http://proxy.example"}
    taps.add(tap={"sleeps": 60, "says": ["TOKEN"]})
    process = taps.start()
    assert taps.seen["paths"] == ["/dev/fd/"]
    assert stat.S_IMODE(os.stat(taps.seen["folder"]).st_mode) == 0o700
    assert os.listdir(taps.seen["folder"]) == []
    arguments = [" ".join(each.info["cmdline"] or ()) for each in psutil.process_iter(["cmdline"])]
    assert any("tap_program.py --config" in line for line in arguments)
    assert taps.seen["environment"]["HTTPS_PROXY"] == "http://proxy.example"
    assert taps.seen["environment"]["PATH"] == os.environ["PATH"]
    assert not {"CREDENTIALS_KEY", "WAREHOUSE_URL", *secrets} & {*taps.seen["environment"]}
    psutil.Process(taps.seen["pid"]).kill()
    printed = process.finish(status=1)
    assert "ended with exit status -9: ***" in printed
    taps.seen_file.unlink()
    texts = [printed, *arguments, taps.commands("status", status=1), taps.commands("pulls", "list")]
    texts += [
        path.read_bytes().decode("latin-1")
        for path in taps.commands.folder.rglob("*")
        if path.is_file()
    ]
    assert [secret for secret in (TOKEN, KEY) for line in texts if secret in line] == []


def test_a_tap_ends_with_its_job(taps: Taps) -> None:
    taps.add(tap={"sleeps": 600})
    process = taps.start()
    tap = psutil.Process(taps.seen["pid"])
    process.send(signal.SIGTERM)
    assert "stopped by SIGTERM" in process.finish(status=143)
    assert not tap.is_running()
    assert taps.landed() == []
    assert folders() == set()
    assert taps.commands.status()["problems"] == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_a_tap_ends_with_a_killed_job(taps: Taps) -> None:
    taps.add(tap={"sleeps": 600})
    process = taps.start()
    tap = psutil.Process(taps.seen["pid"])
    process.kill()
    process.wait()
    wait_until(lambda: not tap.is_running() or tap.status() == psutil.STATUS_ZOMBIE)
    # Nothing of its configuration is on the disk.
    assert [path for folder in folders() for path in folder.rglob("*")] == []


def test_a_tap_that_needs_plain_files(taps: Taps) -> None:
    taps.add(tap={"sleeps": 60}, files_in_folder=True)
    process = taps.start()
    folder = Path(taps.seen["folder"])
    assert taps.seen["paths"] == [f"{folder}/"]
    assert taps.seen["config"]["access_token"] == TOKEN
    modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (folder, folder / "config.json")]
    assert modes == [0o700, 0o600]
    process.send(signal.SIGTERM)
    process.finish(status=143)
    assert folders() == set()


def test_without_setpriv(taps: Taps, tmp_path: Path) -> None:
    """As on other systems than Linux."""
    taps.commands.settings["PATH"] = str(tmp_path)
    taps.add()
    assert "pulled ads: 1 rows" in taps.pull()
    taps.add(command=["/nowhere/tap"])
    assert "Error: /nowhere/tap: No such file or directory" in taps.pull(status=1)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"streams": {}}, "`command` and `streams` must not be empty"),
        ({"command": "tap"}, "Expected `array`, got `str` - at `$.command`"),
        ({"ad_account": None}, "`ad_account` is missing"),
        ({"streams": {"days": {}}}, "the stream 'days' needs either `format` or `kind`"),
        ({"streams": {"days": {"format": "excel"}}}, "no format 'excel'; there are shopify, "),
        ({"streams": {"days": {"kind": "lunch"}}}, "no kind 'lunch'; there are shops, "),
        (
            {"streams": {"days": {"kind": "orders", "fields": {"price": "price"}}}},
            "orders has no field price; `python -m jobs fields orders` lists them",
        ),
    ],
)
def test_a_mapping_that_makes_no_sense_is_refused(
    taps: Taps, changes: dict[str, Any], reason: str
) -> None:
    assert reason in taps.add(status=1, **changes)
    assert taps.commands("pulls", "list") == ""
