"""JSON Schema (2020-12, the dialect of OpenAPI 3.1) of the types in `web/shapes/`."""

from collections.abc import Iterator
from inspect import cleandoc
from typing import Any, Final, get_args, get_type_hints, is_typeddict

from msgspec.json import schema_components

Schema = dict[str, Any]

REFERENCE: Final = "#/components/schemas/{name}"


def reference(shape: type) -> Schema:
    """A schema that points to a row's own."""
    return {"$ref": REFERENCE.format(name=shape.__name__)}


def schema_of(shape: Any) -> Schema:
    """The schema of a payload: of a row, of a list of rows, or of one of several kinds of objects that
    tell themselves apart by `dimension`."""
    if is_typeddict(shape):
        return reference(shape)
    kinds = [kind for kind in get_args(shape) if is_typeddict(kind)]
    if shape == list[kinds[0]]:  # type: ignore[valid-type]
        return {"type": "array", "items": reference(kinds[0])}
    mapping = {dimension_of(kind): reference(kind)["$ref"] for kind in kinds}
    return {
        "oneOf": [reference(kind) for kind in kinds],
        "discriminator": {"propertyName": "dimension", "mapping": mapping},
    }


def dimension_of(shape: type) -> str:
    """The one value that the field `dimension` of a shape has."""
    (value,) = get_args(get_type_hints(shape)["dimension"])
    return str(value)


def components(shapes: list[Any]) -> dict[str, Schema]:
    """The schemas of all rows in these shapes, and of those within them, by name: each with its fields
    in the order of the answer."""
    rows = {row.__name__: row for shape in shapes for row in _rows(shape)}
    _, schemas = schema_components(list(rows.values()), ref_template=REFERENCE)
    for name, row in rows.items():
        schema = schemas[name]
        fields = list(get_type_hints(row))
        schema["description"] = cleandoc(schema["description"])
        schema["properties"] = {field: schema["properties"][field] for field in fields}
        schema["required"] = fields
    return {name: schemas[name] for name in sorted(schemas)}


def _rows(shape: Any) -> Iterator[type]:
    if is_typeddict(shape):
        yield shape
        for field in get_type_hints(shape).values():
            yield from _rows(field)
    for part in get_args(shape):
        yield from _rows(part)
