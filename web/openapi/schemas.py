"""JSON Schema (2020-12, the dialect of OpenAPI 3.1) of the types in `web/api/schemas/`."""

from collections.abc import Iterator
from inspect import cleandoc
from typing import Any, Final, get_args, get_type_hints, is_typeddict

from msgspec.json import schema_components

Schema = dict[str, Any]

REFERENCE: Final = "#/components/schemas/{name}"


def reference(declared: type) -> Schema:
    """A reference to the schema of a type."""
    return {"$ref": REFERENCE.format(name=declared.__name__)}


def schema_of(payload: Any) -> Schema:
    """The schema of a payload: a row, a list of rows, or a union of objects with different values of
    `dimension`."""
    if is_typeddict(payload):
        return reference(payload)
    types = [each for each in get_args(payload) if is_typeddict(each)]
    if payload == list[types[0]]:  # type: ignore[valid-type]
        return {"type": "array", "items": reference(types[0])}
    mapping = {dimension_of(each): reference(each)["$ref"] for each in types}
    return {
        "oneOf": [reference(each) for each in types],
        "discriminator": {"propertyName": "dimension", "mapping": mapping},
    }


def dimension_of(declared: type) -> str:
    """The only value of the field `dimension` of a type."""
    (value,) = get_args(get_type_hints(declared)["dimension"])
    return str(value)


def components(payloads: list[Any]) -> dict[str, Schema]:
    """The schemas of all types in these payloads, nested ones too, by name. Fields are in the order of
    the answer."""
    rows = {row.__name__: row for payload in payloads for row in _rows(payload)}
    _, schemas = schema_components(list(rows.values()), ref_template=REFERENCE)
    for name, row in rows.items():
        schema = schemas[name]
        fields = list(get_type_hints(row))
        schema["description"] = cleandoc(schema["description"])
        schema["properties"] = {field: schema["properties"][field] for field in fields}
        schema["required"] = [field for field in fields if field in schema["required"]]
    return {name: schemas[name] for name in sorted(schemas)}


def _rows(payload: Any) -> Iterator[type]:
    if is_typeddict(payload):
        yield payload
        for field in get_type_hints(payload).values():
            yield from _rows(field)
    for part in get_args(payload):
        yield from _rows(part)
