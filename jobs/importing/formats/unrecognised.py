"""The words for a table that no format is: its columns, what it comes nearest to, and what to do."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jobs.importing.files.chunk import listed
from jobs.importing.formats import FORMATS
from jobs.importing.formats.ads.report_table import language_advice
from jobs.importing.formats.base import Sample
from jobs.importing.kinds.base import Kind
from warehouse import command


class _Nearest(NamedTuple):
    """A format or kind (`name`) beside a table: how many columns of the table it knows, and the fields that
    the table would lack."""

    known: int
    lacks: list[str]
    name: str
    columns: Sequence[str]

    def rank(self) -> tuple[int, int]:
        return self.known, -len(self.lacks)


def sentence(sample: Sample, kinds: Iterable[Kind]) -> str:
    """The reason why a table is not read as one of these kinds."""
    kinds = list(kinds)
    tables = [list(names) for names in sample.records] or [[]]
    nearest = max((_nearest(names, kinds) for names in tables), key=_Nearest.rank)
    columns = nearest.columns if nearest.known else max(tables, key=len)
    if not any(columns):
        return "not recognised; it has no header"
    said = f"not recognised; it has the columns {', '.join(listed(list(filter(None, columns))))}"
    if advice := language_advice(columns):
        return f"{said}. {advice}"
    if not nearest.known and len(kinds) > 1:
        return f"{said}, of which none is known"
    missing = ", ".join(nearest.lacks)
    return f"{said}. It comes nearest to {nearest.name}, and lacks columns for: {missing}"


def _nearest(columns: list[str], kinds: list[Kind]) -> _Nearest:
    names = [kind.name for kind in kinds]
    # One that lacks nothing is not shown to be its platform's: the table would have to name the platform.
    of_formats = [
        _Nearest(sum(map(one.knows, columns)), lacks, f"the format {one.name}", columns)
        for one in FORMATS.values()
        if one.reads_tables and one.kind in names and (lacks := one.lacks(columns))
    ]
    lowered = {name.lower() for name in columns}
    of_kinds = [
        _Nearest(
            len(lowered & set(kind.field_names())),
            [field.name for field in kind.fields if field.required and field.name not in lowered],
            f"a table of this program's own {kind.name} (`{command('jobs fields')} {kind.name}`)",
            columns,
        )
        for kind in kinds
    ]
    return max([*of_formats, *of_kinds], key=_Nearest.rank)
