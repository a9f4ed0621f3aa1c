"""Pages without rows, answers that are errors, and standard input: by the command and in the folder."""

import gzip
import json
from typing import Any

import pytest

from tests.support.import_files import SAMPLES, event, order, written
from tests.support.job_commands import Commands

A = {"shop_id": "a.example", "currency": "EUR"}
B = {"shop_id": "b.example", "currency": "USD"}
TIKTOK = {
    "code": 40105,
    "message": "Access token is incorrect or has been revoked.",
    "request_id": "2026061015295501023125104093255",
}
NOTHING = {"read": 0, "new": 0, "duplicate": 0, "replaced": 0, "rejected": 0}
EMPTY = {
    "list.json": b"[]",
    "page.json": b'{"orders": []}',
    "tiktok.json": b'{"code": 0, "message": "OK", "data": {"list": [], "page_info": {"page": 1}}}',
    "page.ndjson": b'{"orders": []}\n{"orders":[]}\n',
    "list.jsonl": b" [ ]\n",
    "page.json.gz": gzip.compress(b'{"orders": []}'),
    "results.json": b'{"results": [], "fieldMask": "campaign.id"}',
    "data.json": b'{"data": [], "paging": {}}',
    "utf16.json": "[]".encode("utf-16"),
    "own.csv": b"order_id,shop_id,created_at,total_cents\n",
}


def counts(printed: str) -> dict[str, int]:
    found: dict[str, int] = json.loads(printed.splitlines()[-1])
    return {name: found[name] for name in NOTHING}


@pytest.mark.parametrize("name", EMPTY)
def test_a_page_without_rows(sqlite_commands: Commands, name: str) -> None:
    sqlite_commands.take("shops", [A, B])
    path = sqlite_commands.folder / name
    path.write_bytes(EMPTY[name])
    assert counts(sqlite_commands("import", "orders", str(path), "--json")) == NOTHING
    assert "read 0  valid 0" in sqlite_commands("import", "orders", str(path), "--dry-run")
    printed = sqlite_commands("import", "orders", "-", "--json", stdin=EMPTY[name])
    assert counts(printed) == NOTHING
    places = ["orders"]
    if name != "own.csv":
        printed = sqlite_commands("import", "orders", str(path), "--format", "shopify", "--json")
        assert counts(printed) == NOTHING
        places += ["orders/shopify", "orders/shopify/a.example"]
    for place in places:
        sqlite_commands.land(place, name, EMPTY[name])
    sqlite_commands("landing")
    for place in places:
        assert (sqlite_commands.landing / place / "done" / name).exists()


def test_a_row_is_no_page(sqlite_commands: Commands) -> None:
    row = order(shop_id=None) | {"data": []}
    path = written(sqlite_commands.folder / "in.ndjson", [row])
    assert ":1 shop_id: missing" in sqlite_commands("import", "orders", str(path), status=3)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"errors": "[API] Invalid API key"}, "'[API] Invalid API key'"),
        ({"data": None, "errors": [{"message": "Throttled", "path": []}]}, "'Throttled'"),
        ({"data": {"orders": []}, "errors": [{"message": "Timeout"}]}, "'Timeout'"),
        ({"error": {"message": "Expired token of a@b.example", "code": 190}}, "'Expired token of "),
        ([{"error": {"code": 401, "status": "UNAUTHENTICATED"}}], '"status":"UNAUTHENTICATED"'),
        ({"error": "x" * 1000}, "x" * 300 + "…'"),
        (TIKTOK, "'Access token is incorrect or has been revoked.'"),
        (TIKTOK | {"data": {}}, "'Access token is incorrect or has been revoked.'"),
        (TIKTOK | {"data": {"list": []}}, "'Access token is incorrect or has been revoked.'"),
    ],
)
@pytest.mark.parametrize(("kind", "format"), [("orders", "shopify"), ("ad-spend", "tiktok")])
def test_an_answer_that_is_an_error(
    sqlite_commands: Commands, answer: Any, words: str, kind: str, format: str
) -> None:
    sqlite_commands.take("shops", [A])
    content = json.dumps(answer).encode()
    path = sqlite_commands.folder / "a.ndjson"
    path.write_bytes(content)
    for options in ((), ("--dry-run",), ("--format", format), ("--shop", "a.example")):
        said = sqlite_commands("import", kind, str(path), *options, status=1)
        assert said.startswith(f"Error: {path}: the other system answered with an error: ")
        assert words in said
        assert "a@b.example" not in said
    sqlite_commands.land(f"{kind}/{format}", "a.json", content)
    sqlite_commands("landing", status=1)
    report = json.loads(next(sqlite_commands.landing.rglob("*.report.json")).read_text())
    assert words in report["error"]


@pytest.mark.parametrize(
    ("content", "title"),
    [
        (
            b"<!DOCTYPE html>\n<html><head>\n<title>502 Bad\n Gateway</title></head>",
            "502 Bad Gateway",
        ),
        (b"\xef\xbb\xbf\n<html lang=de><body>Sign in</body></html>", ""),
        # A pattern that looked through all of it once for each title would take hours.
        (b"<html>" + b"<title>" * 250_000, ""),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.ndjson"])
@pytest.mark.parametrize(
    "of", [("exchange-rates",), ("events",), ("ad-spend", "--format", "meta-csv")]
)
def test_a_page_of_html_saved_as_a_file(
    sqlite_commands: Commands, content: bytes, title: str, name: str, of: tuple[str, ...]
) -> None:
    sqlite_commands.take("shops", [A])
    kind, *options = of
    path = sqlite_commands.folder / name
    path.write_bytes(content)
    said = sqlite_commands("import", kind, str(path), *options, status=1)
    assert said == (
        f"Error: {path}: its content is a web page with the title {title!r}, perhaps of an error or a "
        "sign-in; fetch the file again\n"
    )


def test_an_empty_file_of_no_known_name(sqlite_commands: Commands) -> None:
    sqlite_commands.take("shops", [A])
    path = sqlite_commands.folder / "a.json"
    path.touch()
    assert ". It is empty or damaged. " in sqlite_commands("import", "orders", str(path), status=1)


def test_errors_in_a_row_are_none_of_the_file(sqlite_commands: Commands) -> None:
    sqlite_commands.take("shops", [A])
    path = written(sqlite_commands.folder / "in.ndjson", [order(errors=["late"])])
    assert "new 1" in sqlite_commands("import", "orders", str(path))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["in.ndjson", "in.csv", "in.parquet"])
def test_standard_input(sqlite_commands: Commands, name: str, packed: bool) -> None:
    sqlite_commands.take("shops", [A])
    content = written(
        sqlite_commands.folder / name, [event(), event(event_id="2", type="x")]
    ).read_bytes()
    if packed and name != "in.parquet":
        content = gzip.compress(content)
    shown = sqlite_commands("import", "events", "-", "--dry-run", status=3, stdin=content)
    assert "\n-:" in shown
    assert "type: 'x' is none of" in shown
    said = sqlite_commands("import", "events", "-", status=3, stdin=content)
    assert said.startswith("-:")
    assert "new 1" in said
    assert sqlite_commands.rows("SELECT file FROM reject") == ["-"]
    # By its content it is the same again.
    again = sqlite_commands("import", "events", "-", status=3, stdin=content)
    assert "duplicate 1" in again
    assert sqlite_commands.rows("SELECT COUNT(*) FROM reject") == [1]
    assert "1" in sqlite_commands("rejects", "--retry", status=3)


def test_a_reject_of_standard_input_is_retried_as_what_it_was(sqlite_commands: Commands) -> None:
    """A text in NDJSON is no number, as it is in a table."""
    row = event(type="step_view", step_id="s", step_index="5")
    for name, accepted in (("in.ndjson", 0), ("in.csv", 1)):
        content = written(sqlite_commands.folder / name, [row]).read_bytes()
        sqlite_commands("import", "events", "-", status=3, stdin=content)
        sqlite_commands.take("shops", [A])
        counted = sqlite_commands("rejects", "--retry", status=0 if accepted else 3)
        assert f"new {accepted}" in counted
        sqlite_commands("rejects", "--dismiss")
        sqlite_commands.change("DELETE FROM raw_event", "DELETE FROM shop")


def test_standard_input_of_another_system(sqlite_commands: Commands) -> None:
    content = (SAMPLES / "shopify.json").read_bytes()
    sqlite_commands.take("shops", [A, B])
    said = sqlite_commands("import", "orders", "-", status=2, stdin=content)
    assert said.splitlines()[-1].startswith("Error: -: files of shopify do not name their shop")
    said = sqlite_commands("import", "orders", "-", "--shop", "a.example", status=3, stdin=content)
    assert "new 4" in said
    assert "Error: -: not recognised; it has the columns a, b. " in sqlite_commands(
        "import", "orders", "-", status=1, stdin=b"a,b\n"
    )


def test_standard_input_without_content(sqlite_commands: Commands) -> None:
    for options in ((), ("--dry-run",), ("--json",)):
        note, read = sqlite_commands("import", "orders", "-", *options).splitlines()
        assert note == "standard input is empty: nothing was read"
        assert read.startswith(("read 0  ", '{"read": 0, '))
