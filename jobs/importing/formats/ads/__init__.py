"""Reports of ad platforms as ad spend: a table for each (`*.toml`), which says all that is particular to it,
and one reader of them all (`report`). A format has the name of its table."""

from pathlib import Path
from typing import Final

from jobs.importing.formats.ads.report import AdReport
from jobs.importing.formats.ads.report_table import read_table

_TABLES: Final = {
    path.stem: read_table(path) for path in sorted(Path(__file__).parent.glob("*.toml"))
}
# Tables of pages come last: they are recognised by the fewest columns, which others have, too.
REPORTS: Final = tuple(
    AdReport(name, table)
    for name, table in sorted(_TABLES.items(), key=lambda one: bool(one[1].page))
)
