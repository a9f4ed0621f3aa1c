"""The browser snippet as the collector serves it. tests/system/browser/test_snippet.py has what it does."""

import gzip
import re
from pathlib import Path

from flask.testing import FlaskClient

from web.collector import snippet

MAX_COMPRESSED_BYTES = 2_048
PATH = "/formrevenue.js"


def test_it_is_small() -> None:
    assert len(snippet.COMPRESSED) <= MAX_COMPRESSED_BYTES


def texts(code: str) -> list[str]:
    return re.findall(r'"[^"]*"|`[^`]*`', code)


def test_it_is_the_source_without_comments_and_blanks(collector: FlaskClient) -> None:
    source = Path(snippet.__file__).with_name("static").joinpath("formrevenue.js").read_text()
    code = re.sub(r"^ *//.*\n", "", source, flags=re.MULTILINE)
    plain = collector.get(PATH)
    # A text with a blank beside a sign of the language would lose it.
    assert texts(plain.text) == texts(code)
    assert re.sub(r"[\s,;]", "", plain.text) == re.sub(r"[\s,;]", "", code)
    # A line end after a closing bracket may end a statement.
    assert "}\nconst " in plain.text
    assert plain.mimetype == "text/javascript"
    assert "Content-Encoding" not in plain.headers
    small = collector.get(PATH, headers={"Accept-Encoding": "br, gzip"})
    assert small.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(small.data) == plain.data


def test_browsers_keep_it_for_an_hour_and_ask_again(collector: FlaskClient) -> None:
    first = collector.get(PATH, headers={"Origin": "https://any.example"})
    assert first.status_code == 200
    assert set(first.headers["Cache-Control"].split(", ")) == {"public", "max-age=3600"}
    assert {"Accept-Encoding", "Origin"} == set(first.headers["Vary"].split(", "))
    assert first.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    again = collector.get(PATH, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
