"""The harm of a server or a tap to a pull is bounded in addresses, bytes, memory and hours."""

import gzip
import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

from jobs.importing.ceilings import memory_ceiling
from jobs.pulls import ecb, http, limits
from tests.jobs.pulls.rates import TABLE, packed
from tests.jobs.pulls.server import Answer, Answering, Asked, Served, serving
from tests.jobs.pulls.shopify_server import CLIENT_ID, CLIENT_SECRET, ShopifyServer
from tests.support.job_commands import SHOP, Commands

HUGE = 20_000_000


def failure(commands: Commands, source: str = "ecb") -> str:
    """Why a pull fails; nothing of it lands."""
    printed = commands("pull", source, status=1)
    assert [path for path in commands.landing.rglob("*") if path.is_file()] == []
    return printed.splitlines()[-1].removeprefix("Error: ")


def add_ecb(commands: Commands, server: Served, name: str = "hist.zip") -> None:
    commands("pulls", "add", "ecb", "--url", f"{server.url}/{name}")


def add_shopify(commands: Commands, server: Served) -> None:
    commands.take("shops", [SHOP])
    commands.settings |= {"SHOPIFY_CLIENT_ID": CLIENT_ID, "SHOPIFY_CLIENT_SECRET": CLIENT_SECRET}
    commands("pulls", "add", "shopify", "--url", server.url)


def leading_to(url: str) -> Answering:
    return lambda asked: Answer(302, headers={"Location": url})


def test_a_redirect_leads_to_no_address_within(sqlite_commands: Commands) -> None:
    with serving(lambda _asked: Answer(body=packed()), "127.0.0.2") as within:
        for place in ("/hist.zip", "/again"):
            with serving(leading_to(f"{within.url}{place}")) as server:
                add_ecb(sqlite_commands, server)
                assert failure(sqlite_commands) == (
                    "the ECB's rates: 127.0.0.2 is the address 127.0.0.2, which is within a network and not "
                    "asked. Set up the pull with --url, if that is where it shall ask"
                )
        assert within.asked == []
        # An operator may name it.
        add_ecb(sqlite_commands, within)
        assert "pulled ecb: 2 rows" in sqlite_commands("pull", "ecb")


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("http://example.com/hist.zip", "http://example.com"),
        ("ftp://example.com/hist.zip", "ftp://example.com"),
        ("file:///etc/passwd", "file://?"),
        ("https://[broken/hist.zip", "https://?"),
    ],
)
def test_a_redirect_leads_to_no_address_without_tls(
    sqlite_commands: Commands, target: str, named: str
) -> None:
    with serving(leading_to(f"{target}?token=secret")) as server:
        add_ecb(sqlite_commands, server)
        assert failure(sqlite_commands) == (
            f"the ECB's rates: {named} is not asked, since only https:// is. Look at what leads there"
        )


def test_the_text_of_a_redirect_is_not_read(sqlite_commands: Commands) -> None:
    def moved(asked: Asked) -> Answer:
        if asked.path == "/hist.zip":
            return Answer(301, b"x" * (2 * HUGE), {"Location": "/new/hist.zip"})
        return Answer(body=packed())

    with serving(moved) as server:
        add_ecb(sqlite_commands, server)
        assert "pulled ecb: 2 rows" in sqlite_commands("pull", "ecb")
        assert server.unread == 1


def test_a_redirect_to_no_host(sqlite_commands: Commands) -> None:
    with serving(leading_to(f"https://{'x' * 70}.example/")) as server:
        add_ecb(sqlite_commands, server)
        assert "cannot be reached (" in failure(sqlite_commands)


def test_a_redirect_within_the_server_is_followed(sqlite_commands: Commands) -> None:
    def moved(asked: Asked) -> Answer:
        if asked.path == "/hist.zip":
            return Answer(301, headers={"Location": "/new/hist.zip"})
        return Answer(body=packed())

    with serving(moved) as server:
        add_ecb(sqlite_commands, server)
        assert "pulled ecb: 2 rows" in sqlite_commands("pull", "ecb")
    with serving(leading_to("/hist.zip")) as server:
        add_ecb(sqlite_commands, server)
        assert "127.0.0.1 redirects 5 times" in sqlite_commands("pull", "ecb", status=1)


def test_the_usual_address_leads_to_none_within(
    sqlite_commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where somebody answers for the name of the bank."""
    with serving(lambda _asked: Answer(body=packed())) as server:
        monkeypatch.setattr(ecb, "URL", f"{server.url}/hist.zip")
        sqlite_commands("pulls", "add", "ecb")
        assert "127.0.0.1, which is within a network and not asked" in failure(sqlite_commands)
        assert server.asked == []


def test_the_result_of_an_operation_lies_at_no_address_within(sqlite_commands: Commands) -> None:
    shopify = ShopifyServer(b"")
    with serving(shopify) as server, serving(lambda _asked: Answer(), "127.0.0.2") as within:
        shopify.url = server.url
        shopify.ending = {"url": f"{within.url}/result"}
        add_shopify(sqlite_commands, server)
        assert "127.0.0.2, which is within a network and not asked" in failure(
            sqlite_commands, "shopify"
        )
        assert within.asked == []
        shopify.ending = {"url": "http://example.com/result"}
        assert "http://example.com is not asked, since only https:// is" in failure(
            sqlite_commands, "shopify"
        )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            Answer(body=json.dumps({"access_token": "x" * HUGE}).encode()),
            "Shopify: the answer of 127.0.0.1 has more than 16 MB, and is not read. "
            "Look at what answers there",
        ),
        (
            Answer(body=gzip.compress(b" " * HUGE), headers={"Content-Encoding": "gzip"}),
            "Shopify: 127.0.0.1 answered packed (gzip), which is not read. Look at what answers there",
        ),
        (Answer(body=b"[" * 1_000_000), "Shopify answered 200 OK"),
    ],
    ids=["long", "packed", "deep"],
)
def test_an_answer_of_any_size_is_not_read(
    sqlite_commands: Commands, answer: Answer, reason: str
) -> None:
    with serving(lambda _asked: answer) as server:
        add_shopify(sqlite_commands, server)
        assert failure(sqlite_commands, "shopify") == reason


def test_the_text_of_an_error_is_not_read(sqlite_commands: Commands) -> None:
    """Neither before a next try, nor after the last one."""
    with serving(lambda _asked: Answer(503, b"x" * (2 * HUGE), {"Retry-After": "0"})) as server:
        add_ecb(sqlite_commands, server)
        assert "127.0.0.1 answered 503 Service Unavailable" in failure(sqlite_commands)
        assert len(server.asked) == server.unread == 6


@pytest.mark.parametrize("source", ["ecb", "shopify", "singer"])
def test_what_is_downloaded_has_a_bound(
    sqlite_commands: Commands, source: str, tmp_path: Path
) -> None:
    commands = sqlite_commands
    commands.settings["PULL_MAX_MB"] = "1"
    shopify = ShopifyServer(b"{}\n" * 400_000)
    bank = Answer(body=b"Date,USD,\n" + b"2026-11-20,1.05,\n" * 100_000)
    with serving(shopify if source == "shopify" else lambda _asked: bank) as server:
        shopify.url = server.url
        if source == "ecb":
            add_ecb(commands, server, "hist.csv")
        elif source == "shopify":
            add_shopify(commands, server)
        else:
            commands.take("shops", [SHOP])
            record = json.dumps({"type": "RECORD", "stream": "s", "record": {"id": "x" * 1_000}})
            file = tmp_path / "config.json"
            program = f"for _ in range(10_000): print({record!r})"
            streams = {"s": {"format": "shopify"}}
            file.write_text(
                json.dumps({"command": [sys.executable, "-c", program], "streams": streams})
            )
            commands("pulls", "add", "singer", "--config", str(file))
        assert failure(commands, source).endswith(
            ": this pull brings more than 1 MB (PULL_MAX_MB), so nothing of it is taken. If you trust the "
            "source, raise the setting"
        )


def in_one_line() -> bytes:
    """A zip of 0.3 MB with a table of one line that would fill the memory."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("eurofxref-hist.csv", b"Date,USD\n" + b"2" * 300_000_000)
    return file.getvalue()


def test_what_is_unpacked_has_a_bound(sqlite_commands: Commands) -> None:
    large = bytes(17_000_000)
    for body, words in (
        (in_one_line(), "a line is longer than 64 kB"),
        (large, "the zip has 17 MB"),
    ):
        answer = Answer(body=body)
        with serving(lambda _asked, answer=answer: answer) as server, memory_ceiling(200 << 20):
            add_ecb(sqlite_commands, server)
            assert failure(sqlite_commands).startswith(f"the ECB's rates: {words}")


def test_a_zip_by_another_method_is_refused(sqlite_commands: Commands) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("eurofxref-hist.csv", TABLE)
    for body in (file.getvalue(), file.getvalue().replace(b"\x00\x00\x5d", b"\x00\x00\x5e")):
        answer = Answer(body=body)
        with serving(lambda _asked, answer=answer: answer) as server:
            add_ecb(sqlite_commands, server)
            assert "the file is no whole zip with one table in it" in failure(sqlite_commands)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("203.0.113.9", False),
        ("8.8.8.8", True),
        ("2001:4860:4860::8888", True),
        ("fe80::1%eth0", False),
        ("::ffff:10.0.0.1", False),
        ("::ffff:8.8.8.8", True),
        ("::10.0.0.1", False),
        ("::ffff:0:10.0.0.1", False),
        ("64:ff9b::10.0.0.1", False),
        ("64:ff9b::169.254.169.254", False),
        ("64:ff9b::8.8.8.8", True),
        ("64:ff9b:1::8.8.8.8", False),
        ("2002:7f00:1::1", False),
        ("2002:c0a8:101::", False),
        ("2002:808:808::1", True),
        # Local addresses of old networks, and groups of receivers.
        ("fec0::1", False),
        ("ff02::1", False),
        ("ff0e::1", False),
        ("224.0.0.1", False),
        ("::ffff:239.1.1.1", False),
    ],
)
def test_an_address_counts_by_the_one_in_it(address: str, public: bool) -> None:
    assert http.is_public(address) == public


ENDED = (
    "the pull has not ended within 6 hours, and was ended; nothing of it is taken. Look at why the source "
    "is slow; the next pull begins where the last whole one ended"
)


def test_a_pull_ends_in_time(
    sqlite_commands: Commands, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whatever it waits for: a body or a header that goes on for ever, a pause, a tap."""
    monkeypatch.setattr(limits, "LONGEST_SECONDS", 0.5)
    commands = sqlite_commands
    for answer in (
        Answer(body=b"Date" * 10_000, pause=0.05),
        Answer(503, headers={"Retry-After": "500"}),
    ):
        with serving(lambda _asked, answer=answer: answer) as server:
            add_ecb(commands, server)
            assert failure(commands) == ENDED
    shopify = ShopifyServer(b"")
    with serving(shopify) as server:
        shopify.url, shopify.looks = server.url, 1_000_000
        add_shopify(commands, server)
        assert failure(commands, "shopify") == ENDED
    file = tmp_path / "config.json"
    program = "import time; time.sleep(1000)"
    streams = {"s": {"format": "shopify"}}
    file.write_text(json.dumps({"command": [sys.executable, "-c", program], "streams": streams}))
    commands("pulls", "add", "singer", "--config", str(file))
    assert failure(commands, "singer") == ENDED
