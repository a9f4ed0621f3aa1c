"""No error shows the password of the database, however the URL is malformed."""

import pytest
from click.testing import CliRunner

from jobs.cli import main as jobs
from warehouse.connections.errors import without_password
from web.cli import main as web

MALFORMED = (
    "postgresql://user:S3cret@[::bad/db",
    "postgresql://user:S3cret@127.0.0.1:port/db",
    "postgresql://user:S3cret@127.0.0.1:99999/db",
    "postgresql://user:pw@S3cret@127.0.0.1:1/db",
    "postgresql://user:S3cret@127.0.0.1:1/db?sslmode=odd",
    "mysql://user:S3cret@127.0.0.1/db",
    "postgresql://user@[::bad/db?password=S3cret",
    "postgresql://user@127.0.0.1:99999/db?sslpassword=S3cret&password=S3cret",
    "postgresql://user@127.0.0.1:1/db?sslpassword=S3cret&sslmode=odd",
)


@pytest.mark.parametrize("url", MALFORMED)
def test_no_command_prints_it(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", url)
    for main, words in ((jobs, ["status"]), (web, ["keys", "list"])):
        done = CliRunner().invoke(main, words)
        # 2: the setting itself is wrong.
        assert done.exit_code in (1, 2)
        assert done.stderr.startswith("Error: ")
        assert "S3cret" not in done.output


@pytest.mark.parametrize("name", ["WAREHOUSE_URL", "READ_WAREHOUSE_URL"])
@pytest.mark.parametrize(
    "message",
    [
        'in IPv6 host address in URI: "postgresql://user:S3/c ret@[::bad/db"',
        'missing "=" after "postgresql+psycopg://user:S3%2Fc%20ret@h/db" in connection info string',
        'invalid percent-encoded token: "S3/c ret"',
        'invalid percent-encoded token: "S3%2Fc%20ret"',
        'in "postgresql://u@h/db?sslmode=odd&sslpassword=S3%2Fother&x=1"',
        "connection string \"host=h password='S3 other' user=u\"",
    ],
)
def test_what_drivers_quote_is_hidden(
    message: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "postgresql://user:S3%2Fc%20ret@127.0.0.1/db")
    shown = without_password(message)
    assert "***" in shown
    assert "S3" not in shown


@pytest.mark.parametrize("parameter", ["password", "sslpassword"])
def test_one_in_the_query_is_hidden_wherever_it_stands(
    parameter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", f"postgresql://user@127.0.0.1/db?{parameter}=S3%2Fc%20ret")
    for message in ('invalid token: "S3/c ret"', 'invalid token: "S3%2Fc%20ret"'):
        assert without_password(message) == 'invalid token: "***"'
