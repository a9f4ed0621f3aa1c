"""The browser snippet as the collector serves it. tests/system/browser/test_snippet.py has what it does."""

import gzip
from pathlib import Path

from flask.testing import FlaskClient

from web.collector import snippet

MAX_COMPRESSED_BYTES = 2_048
PATH = "/formrevenue.js"


def test_it_is_small() -> None:
    assert len(snippet.COMPRESSED) <= MAX_COMPRESSED_BYTES


def test_it_is_the_source_without_comments_and_blanks(collector: FlaskClient) -> None:
    source = Path(snippet.__file__).with_name("static").joinpath("formrevenue.js").read_text()
    code = [line.strip() for line in source.splitlines() if not line.strip().startswith("//")]
    plain = collector.get(PATH)
    # Where a line end may mean that a statement ends, it stays.
    ends = ["" if line.endswith(tuple(";{,([")) else "\n" for line in code]
    assert plain.text + "\n" == "".join(map(str.__add__, code, [*ends[:-1], "\n"]))
    assert plain.mimetype == "text/javascript"
    assert "Content-Encoding" not in plain.headers
    small = collector.get(PATH, headers={"Accept-Encoding": "br, gzip"})
    assert small.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(small.data) == plain.data
    # A line that went on over its end would lose its indentation.
    assert "`" not in source.replace("`[name=", "").replace('"]`', "")


def test_browsers_keep_it_for_an_hour_and_ask_again(collector: FlaskClient) -> None:
    first = collector.get(PATH, headers={"Origin": "https://any.example"})
    assert first.status_code == 200
    assert set(first.headers["Cache-Control"].split(", ")) == {"public", "max-age=3600"}
    assert {"Accept-Encoding", "Origin"} == set(first.headers["Vary"].split(", "))
    assert first.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    again = collector.get(PATH, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
