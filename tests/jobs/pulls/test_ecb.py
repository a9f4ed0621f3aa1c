"""The ECB's rates: fetched once, and the new days imported as any landed file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jobs.pulls.rates import TABLE, packed
from tests.jobs.pulls.server import Answer, Asked, Served, serving
from tests.support.job_commands import Commands

RATES = "SELECT quote, rate FROM exchange_rate ORDER BY quote, day"


class Bank:
    """The server's answers; requests that know `etag` get a 304."""

    def __init__(self) -> None:
        self.answer = Answer(body=packed(), headers={"ETag": '"1"'})

    def __call__(self, asked: Asked) -> Answer:
        etag = self.answer.headers.get("ETag")
        if etag and asked.headers.get("if-none-match") == etag:
            return Answer(status=304)
        return self.answer


@pytest.fixture
def bank() -> Bank:
    return Bank()


@pytest.fixture
def served(bank: Bank) -> Iterator[Served]:
    with serving(bank) as server:
        yield server


@pytest.fixture
def pulling(commands: Commands, served: Served) -> Commands:
    commands("pulls", "add", "ecb", "--url", f"{served.url}/eurofxref-hist.zip")
    return commands


def landed(commands: Commands) -> list[Path]:
    """All files in the landing folder, hidden ones too."""
    return [path for path in commands.landing.rglob("*") if path.is_file()]


def test_the_rates_are_imported(pulling: Commands) -> None:
    assert "pulled ecb: 2 rows" in pulling("pull", "ecb")
    (file,) = landed(pulling)
    assert (file.parent.parent.name, file.parent.name, file.suffix) == (
        "exchange-rates",
        "ecb",
        ".csv",
    )
    pulling("landing")
    assert pulling.rows(RATES) == [("JPY", "162.3"), ("USD", "1.0499"), ("USD", "1.0511")]


def test_a_table_that_is_not_packed(commands: Commands, bank: Bank, served: Served) -> None:
    bank.answer = Answer(body=TABLE)
    commands("pulls", "add", "ecb", "--url", f"{served.url}/eurofxref-hist.csv")
    commands("pull", "ecb")
    commands("landing")
    assert len(commands.rows(RATES)) == 3


def test_what_has_not_changed_is_not_fetched_again(
    pulling: Commands, bank: Bank, served: Served
) -> None:
    pulling("pull", "ecb")
    assert "pulled ecb: 0 rows" in pulling("pull", "ecb")
    assert [asked.headers.get("if-none-match") for asked in served.asked] == [None, '"1"']
    assert len(landed(pulling)) == 1
    bank.answer = Answer(body=packed(TABLE + b"2026-11-18,1.05,162.1,\n"), headers={"ETag": '"2"'})
    assert "pulled ecb: 3 rows" in pulling("pull", "ecb")
    assert len(landed(pulling)) == 2


def test_only_new_days_land(pulling: Commands, bank: Bank, served: Served) -> None:
    """Those since the newest day of the last pull, and a week before it: the bank corrects its rates."""
    old = b"2026-11-13,1.1,161.3,\n2026-11-12,1.2,161.2,\n1999-01-04,1.1789,133.73,\n"
    bank.answer = Answer(body=packed(TABLE + old), headers={"ETag": '"1"'})
    assert "pulled ecb: 5 rows" in pulling("pull", "ecb")
    pulling("landing")
    head, rows = TABLE.split(b"\n", 1)
    table = head + b"\n2026-11-23,1.06,163.1,\n" + rows + old
    bank.answer = Answer(body=packed(table), headers={"ETag": '"2"'})
    assert "pulled ecb: 4 rows" in pulling("pull", "ecb")
    (file,) = [path for path in landed(pulling) if path.parent.name == "ecb"]
    assert file.read_bytes() == table[: table.index(b"2026-11-12")]
    pulling("landing")
    assert len(pulling.rows(RATES)) == 11
    # A longer way back, where more was corrected; and another address has all to be told anew.
    pulling("pulls", "add", "ecb", "--lookback", "11")
    bank.answer = Answer(body=packed(table), headers={"ETag": '"3"'})
    assert "pulled ecb: 5 rows" in pulling("pull", "ecb")
    pulling("pulls", "add", "ecb", "--url", f"{served.url}/other.zip")
    assert "pulled ecb: 6 rows" in pulling("pull", "ecb")


def test_the_table_of_one_day(pulling: Commands, bank: Bank) -> None:
    """Its day is in words."""
    bank.answer = Answer(body=packed(b"Date, USD, JPY, \n20 November 2026, 1.0511, 162.3, \n"))
    for _ in range(2):
        assert "pulled ecb: 1 rows" in pulling("pull", "ecb")
    pulling("landing")
    assert pulling.rows(RATES) == [("JPY", "162.3"), ("USD", "1.0511")]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(body=packed(), cut=100), "the answer of 127.0.0.1 was cut off"),
        (Answer(body=packed()[:100]), "the file is no whole zip with one table in it"),
        (Answer(body=b"<html>try later</html>"), "the file is no whole zip with one table in it"),
        (Answer(body=packed(b"<html>")), "the file does not begin with a column Date"),
        (Answer(body=packed(TABLE[:-5])), "the file was cut off"),
        (Answer(status=404), "127.0.0.1 answered 404 Not Found"),
        (Answer(status=503), "127.0.0.1 answered 503 Service Unavailable"),
    ],
)
def test_a_failure_changes_nothing_and_is_told(
    pulling: Commands, bank: Bank, answer: Answer, reason: str
) -> None:
    pulling("pull", "ecb")
    pulling("landing")
    before = landed(pulling)
    kept = bank.answer
    bank.answer = answer
    line = f"the ECB's rates: {reason}"
    assert pulling("pull", "ecb", status=1).splitlines()[-1] == f"Error: {line}"
    assert landed(pulling) == before
    report = pulling.status(status=1)
    (pull,) = report["pulls"]
    assert (pull["name"], pull["status"], pull["message"]) == ("ecb", "error", line)
    assert report["problems"] == [
        f"the last pull ecb failed: {line}. Mend the reason; "
        "`python -m jobs pull ecb --name ecb` tries it again"
    ]
    assert f"NEEDS YOU: the last pull ecb failed: {line}." in pulling("status", status=1)
    # The state of the last good pull stands.
    bank.answer = kept
    assert "pulled ecb: 0 rows" in pulling("pull", "ecb")
    assert pulling.status()["problems"] == []


def test_a_short_outage_is_waited_for(pulling: Commands, bank: Bank, served: Served) -> None:
    whole, bank.answer = bank.answer, Answer(status=503)

    def recovering(asked: Asked) -> Answer:
        return whole if len(served.asked) > 3 else Answer(status=503, headers={"Retry-After": "0"})

    with serving(recovering) as flaky:
        pulling("pulls", "add", "ecb", "--url", f"{flaky.url}/hist.zip")
        served.asked = flaky.asked
        assert "pulled ecb: 2 rows" in pulling("pull", "ecb")
        assert len(flaky.asked) == 4


def test_nobody_listens(commands: Commands) -> None:
    commands("pulls", "add", "ecb", "--url", "http://127.0.0.1:9/hist.zip")
    assert "127.0.0.1 cannot be reached (ConnectionError)" in commands("pull", "ecb", status=1)
