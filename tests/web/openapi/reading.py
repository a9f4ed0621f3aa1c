"""How the tests read the document."""

from typing import Any

import jsonschema_rs


def operations(openapi: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        operation["operationId"]: operation
        for methods in openapi["paths"].values()
        for operation in methods.values()
    }


def parameters(openapi: dict[str, Any], operation: dict[str, Any]) -> list[dict[str, Any]]:
    return [referenced(openapi, parameter) for parameter in operation["parameters"]]


def referenced(openapi: dict[str, Any], described: dict[str, Any]) -> dict[str, Any]:
    """The target of a reference; anything else is itself."""
    while "$ref" in described:
        _, _, kind, name = described["$ref"].split("/")
        described = openapi["components"][kind][name]
    return described


def success(operation: dict[str, Any]) -> dict[str, Any]:
    (status,) = (status for status in operation["responses"] if status.startswith("2"))
    found: dict[str, Any] = operation["responses"][status]["content"]["application/json"]
    return found


def closed(schema: Any) -> Any:
    """The schema, in which no object may have a member that is not declared."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(part) for name, part in schema.items()}
    if found.get("type") == "object" and "properties" in found:
        found["additionalProperties"] = False
    return found


def complaints(openapi: dict[str, Any], schema: dict[str, Any], value: Any) -> list[str]:
    whole = {**closed(schema), "components": closed(openapi["components"])}
    validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
    return [
        f"{error.instance_path}: {error.message}"[:300] for error in validator.iter_errors(value)
    ]
