"""The browser snippet as the collector serves it. tests/system/browser/test_snippet.py has what it does."""

import gzip
from hashlib import sha256
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from web.collector import snippet

MAX_COMPRESSED_BYTES = 6_144
PATH = "/formrevenue.js"
STATIC = Path(snippet.__file__).with_name("static")


def test_it_is_small() -> None:
    assert len(snippet.SCRIPTS[PATH].compressed) <= MAX_COMPRESSED_BYTES


def test_what_is_served_is_made_of_the_sources() -> None:
    sources = {path.relative_to(STATIC).as_posix(): path for path in STATIC.rglob("*.js")}
    lines = STATIC.with_name("built").joinpath("SOURCES").read_text().splitlines()
    hashes = {name: hash for hash, name in (line.split() for line in lines)}
    stale = "run `make line`, and commit web/collector/built"
    assert hashes == {
        name: sha256(path.read_bytes()).hexdigest() for name, path in sources.items()
    }, stale
    assert {path.removeprefix("/") for path in snippet.SCRIPTS} == set(sources), stale
    # A browser that has one part from before takes the other anew.
    part = f'"sending.js?{hashes["sending.js"][:8]}"'.encode()
    assert part in snippet.SCRIPTS[PATH].plain


@pytest.mark.parametrize("path", snippet.SCRIPTS)
def test_scripts_are_served_small(collector: FlaskClient, path: str) -> None:
    plain = collector.get(path)
    assert plain.data == snippet.SCRIPTS[path].plain
    assert plain.mimetype == "text/javascript"
    assert "Content-Encoding" not in plain.headers
    # A page of any shop loads those for tools as modules.
    assert plain.headers["Access-Control-Allow-Origin"] == "*"
    small = collector.get(path, headers={"Accept-Encoding": "br, gzip"})
    assert small.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(small.data) == plain.data


def test_each_script_for_a_tool_has_a_host_and_a_page_in_the_tests() -> None:
    tools = {Path(path).stem for path in snippet.SCRIPTS if path.startswith("/tools/")}
    source = (STATIC / "formrevenue.js").read_text()
    hosts = source.partition("const hosts = {")[2].partition("};")[0]
    pages = Path(__file__).parents[2] / "support/popups"
    assert {line.split(":")[0].strip() for line in hosts.splitlines() if ":" in line} == tools
    assert [tool for tool in tools if not (pages / f"{tool}.html").exists()] == []


def test_browsers_keep_it_for_an_hour_and_ask_again(collector: FlaskClient) -> None:
    first = collector.get(PATH, headers={"Origin": "https://any.example"})
    assert first.status_code == 200
    assert set(first.headers["Cache-Control"].split(", ")) == {"public", "max-age=3600"}
    assert {"Accept-Encoding", "Origin"} == set(first.headers["Vary"].split(", "))
    assert first.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    again = collector.get(PATH, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
