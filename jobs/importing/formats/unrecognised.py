"""The words for a table that no format is: its columns, what it comes nearest to, and what to do."""

from collections.abc import Iterable
from operator import itemgetter

from jobs.importing.files.chunk import listed
from jobs.importing.formats import FORMATS
from jobs.importing.formats.ads.report_table import language_advice
from jobs.importing.formats.base import Sample
from jobs.importing.kinds.base import Kind
from warehouse import command


def sentence(sample: Sample, kinds: Iterable[Kind]) -> str:
    """The reason why a table is not read as one of these kinds."""
    kinds = list(kinds)
    tables = [list(names) for names in sample.records] or [[]]
    near = [(*_nearest(columns, kinds), columns) for columns in tables]
    (known, _), name, lacks, columns = max(near, key=itemgetter(0))
    if not known:
        columns = max(tables, key=len)
    if not any(columns):
        return "not recognised; it has no header"
    said = f"not recognised; it has the columns {', '.join(listed(list(filter(None, columns))))}"
    if advice := language_advice(columns):
        return f"{said}. {advice}"
    if not known and len(kinds) > 1:
        return f"{said}, of which none is known"
    return f"{said}. It comes nearest to {name}, and lacks columns for: {', '.join(lacks)}"


def _nearest(columns: list[str], kinds: list[Kind]) -> tuple[tuple[int, int], str, list[str]]:
    """The format or kind that is nearest to a table: its rank, by the columns that it knows and the fields
    that the table would lack; its name; these fields."""
    found = []
    for one in FORMATS.values():
        # One that lacks nothing is not shown to be its platform's: the table would have to name the platform.
        is_asked = one.reads_tables and one.kind in {kind.name for kind in kinds}
        if is_asked and (lacks := one.lacks(columns)):
            found.append((sum(map(one.knows, columns)), f"the format {one.name}", lacks))
    lowered = {name.lower() for name in columns}
    for kind in kinds:
        name = f"a table of this program's own {kind.name} (`{command('jobs fields')} {kind.name}`)"
        required = [field.name for field in kind.fields if field.required]
        lacks = [field for field in required if field not in lowered]
        found.append((len(lowered & set(kind.field_names())), name, lacks))
    ranked = (((known, -len(lacks)), name, lacks) for known, name, lacks in found)
    return max(ranked, key=itemgetter(0))
