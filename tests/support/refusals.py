"""The look of every error."""

from werkzeug.test import TestResponse


def refused(answer: TestResponse, status: int, code: str, case: object = "") -> None:
    assert (answer.status_code, answer.mimetype) == (status, "application/json"), case
    body = answer.get_json()
    assert list(body) == ["error"]
    error = body["error"]
    assert error["code"] == code, case
    assert error["message"]
    assert answer.headers["X-Request-Id"] == error["requestId"]
    assert error["requestId"].startswith("req_")
    assert set(error) == {"code", "message", "requestId"}
