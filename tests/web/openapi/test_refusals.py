"""Every error of every endpoint is as it is described."""

from typing import Any

from tests.web.openapi.conftest import Answers
from tests.web.openapi.described import Described
from tests.web.openapi.reading import complaints, operations
from tests.web.openapi.refused import example, refused
from web.app import RESOURCES
from web.openapi.operations import operation_id

ENDPOINTS = [one for resource in RESOURCES for one in resource.blueprint.endpoints]
# What no request brings about: too many of them, a fault, a warehouse that does not answer.
BEYOND = ("429", "500", "503")


def test_every_error_that_is_described_is_the_one_that_comes(
    openapi: dict[str, Any], service: Described, answers: Answers
) -> None:
    """After the `answers`, which another form would change."""
    shared = openapi["components"]["responses"]
    for endpoint in ENDPOINTS:
        operation = operations(openapi)[operation_id(endpoint.answer)]
        for status, response in operation["responses"].items():
            if status < "400" or status in BEYOND:
                continue
            if "$ref" in response:
                response = shared[response["$ref"].rpartition("/")[2]]
            content = response["content"]["application/json"]
            detail = content["schema"]["properties"]["error"]["allOf"][1]
            for code in detail["properties"]["code"]["enum"]:
                answer = refused(service, endpoint, code)
                case = (operation["operationId"], code)
                body = example(answer)
                assert (str(answer.status_code), body["error"]["code"]) == (status, code), case
                assert complaints(openapi, content["schema"], body) == [], case
                sent = set(answer.headers.keys()) - {"Content-Type", "Content-Length"}
                assert sent <= set(response["headers"]), case
                if "examples" in content:
                    assert content["examples"][code]["value"] == body, case


def test_the_examples_of_errors_are_as_described(openapi: dict[str, Any]) -> None:
    for name, response in openapi["components"]["responses"].items():
        content = response["content"]["application/json"]
        if "example" in content:
            assert complaints(openapi, content["schema"], content["example"]) == [], name
            assert content["example"]["error"]["code"] == name
