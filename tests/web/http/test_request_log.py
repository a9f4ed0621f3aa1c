"""The log's lines of odd requests."""

import errno
import json
import os
from contextlib import suppress

import pytest
from flask.testing import FlaskClient

from tests.support.refusals import refused
from web.auth.api_key_format import new_key
from web.http.services import services_of


def test_an_unknown_method_is_another(
    client: FlaskClient, capsys: pytest.CaptureFixture[str]
) -> None:
    client.open("/healthz", method="M" + "X" * 60_000)
    client.get("/healthz")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["method"] for line in lines] == ["other", "GET"]


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_where_files_have_run_out(
    client: FlaskClient, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(services_of(client.application).database, "read", read)
    answer = client.get("/v1/forms", headers={"Authorization": f"Bearer {new_key()}"})
    refused(answer, 503, "unavailable")
    assert client.get("/settings/sign-in").status_code == 503


def test_a_log_that_nobody_reads_stops_no_request(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", buffering=1) as log:
        monkeypatch.setattr("sys.stderr", log)
        assert [client.get("/healthz").status_code for _ in range(2)] == [200, 200]
        with suppress(BrokenPipeError):
            log.close()
