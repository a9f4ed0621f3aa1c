"""A client with one key, and the statements that its requests send to the warehouse."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any
from unittest.mock import patch

from flask.testing import FlaskClient
from sqlalchemy import Engine, event
from werkzeug.test import TestResponse

from warehouse.connections.look_ups import DriverStatement


class Client:
    """Asks with one key, and with further headers."""

    def __init__(self, client: FlaskClient, key: str) -> None:
        self._client, self.headers = client, {"Authorization": f"Bearer {key}"}

    def get(self, path: str, method: str = "GET", **headers: str) -> TestResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._client.open(path, method=method, headers=self.headers | named)

    def tag(self, path: str) -> str:
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.headers["ETag"]

    def has(self, path: str, tag: str) -> bool:
        """Whether the service takes an answer with this tag for the one that it would give."""
        status = self.get(path, If_None_Match=tag).status_code
        assert status in (200, 304)
        return status == 304


@contextmanager
def statements() -> Iterator[list[str]]:
    """The statements that this thread executes meanwhile, on any warehouse."""
    seen: list[str] = []
    here = get_ident()

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if get_ident() == here:
            seen.append(statement)

    def parameters(written: DriverStatement, values: Any) -> Any:
        note(None, None, written.text)
        return of_driver(written, values)

    of_driver = DriverStatement.parameters
    event.listen(Engine, "before_cursor_execute", note)
    try:
        with patch.object(DriverStatement, "parameters", parameters):
            yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)
