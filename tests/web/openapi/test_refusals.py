"""Every error of every endpoint is as it is described."""

from typing import Any

from tests.web.openapi.conftest import ResponseCache
from tests.web.openapi.described import Described
from tests.web.openapi.reading import complaints, operations, referenced
from tests.web.openapi.refused import codes_of, example, refused
from web.reports import ENDPOINTS


def test_every_error_that_is_described_is_the_one_that_comes(
    openapi: dict[str, Any], service: Described, answers: ResponseCache
) -> None:
    """After the `answers`, which another form would change."""
    examples: dict[str, Any] = {}
    bodies: dict[str, list[Any]] = {}
    for endpoint in ENDPOINTS:
        operation = operations(openapi)[endpoint.operation]
        for code, status in codes_of(endpoint).items():
            response = referenced(openapi, operation["responses"][str(status)])
            content = response["content"]["application/json"]
            assert f"`{code}`" in response["description"]
            case = operation["operationId"], code
            answer = refused(service, endpoint, code)
            body = example(answer)
            assert (answer.status_code, body["error"]["code"]) == (status, code), case
            assert complaints(openapi, content["schema"], body) == [], case
            sent = set(answer.headers.keys()) - {"Content-Type", "Content-Length"}
            assert sent <= set(response["headers"]), case
            examples[code] = content["examples"][code]["value"]
            bodies.setdefault(code, []).append(body)
    for code, shown in examples.items():
        assert shown in bodies[code]


def test_all_errors_are_shared(openapi: dict[str, Any]) -> None:
    """A generated client has one type for all errors."""
    shared = openapi["components"]["responses"]
    for response in shared.values():
        schema = response["content"]["application/json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/Error"}
    referred = {
        response["$ref"].rpartition("/")[2]
        for operation in operations(openapi).values()
        for status, response in operation["responses"].items()
        if status >= "400"
    }
    assert referred == set(shared)
