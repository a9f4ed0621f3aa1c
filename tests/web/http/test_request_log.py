"""The log's lines of odd requests."""

import errno
import json
import logging
import os

import pytest
from flask.testing import FlaskClient

from tests.support.refusals import refused
from web.auth.api_key_format import new_key
from web.services import services_of


def test_an_unknown_method_is_another(
    client: FlaskClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("web"), "propagate", True)
    with caplog.at_level(logging.INFO, "web"):
        client.open("/healthz", method="M" + "X" * 60_000)
        client.get("/healthz")
    lines = [json.loads(record.getMessage()) for record in caplog.records]
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
