"""The API's description, and the service that it describes, on both databases."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import URL

from tests.support import postgres
from tests.web.openapi.described import QUESTIONS, Described, described
from web.app import close_app, create_app

ResponseCache = dict[tuple[str, str], Any]
"""By operation and name of the question."""


@pytest.fixture(scope="session")
def openapi() -> dict[str, Any]:
    app = create_app("sqlite://")
    answer = app.test_client().get("/v1/openapi.json")
    close_app(app)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.get_json()
    return found


@pytest.fixture(scope="session")
def sqlite_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Described]:
    with described(f"sqlite:///{tmp_path_factory.mktemp('openapi') / 'demo.db'}") as found:
        yield found


@pytest.fixture(scope="session")
def postgresql_service(postgres_server: URL) -> Iterator[Described]:
    with postgres.new_database(postgres_server) as url, described(url) as found:
        yield found


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def service(request: pytest.FixtureRequest) -> Described:
    found: Described = request.getfixturevalue(f"{request.param}_service")
    return found


@pytest.fixture(scope="session")
def answers(service: Described) -> ResponseCache:
    return {(asked.operation, asked.name): service.ask(asked) for asked in QUESTIONS}
