"""`fields`: print what a row of a kind may have."""

import json

import click

from jobs.importing.kinds import KINDS
from jobs.importing.kinds.base import Kind
from jobs.importing.values.fields import Field
from warehouse.domain.example_rows import EXAMPLE_ROWS


def fields_command(kind: str) -> None:
    click.echo("\n".join(table_of(KINDS[kind])))
    click.echo(f"\n{json.dumps(EXAMPLE_ROWS[kind])}")


def table_of(kind: Kind) -> list[str]:
    """The lines of a table: field, type, required, meaning."""
    rows = [("field", "type", "required", "meaning")]
    rows += [
        (field.name, field.type.name, _required(field), field.meaning) for field in kind.fields
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_line(row, widths) for row in rows]
    return [lines[0], _line(["-" * width for width in widths], widths), *lines[1:]]


def _required(field: Field) -> str:
    return "yes" if field.required else f"for {field.required_for}" if field.required_for else ""


def _line(cells: tuple[str, ...] | list[str], widths: list[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"
