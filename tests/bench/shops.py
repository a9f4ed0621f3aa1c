"""200 shops beside the same events in one, and beside themselves in groups of two."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.databases import New
from tests.bench.files import SHOPS, rows
from tests.bench.goals import Row, row, times
from tests.bench.processes import Took, run


def measure(new: New, data: Path) -> list[Row]:
    """Measure the first rollup and the rebuild of one shop and of many; and of many the verify of a night,
    which looks at three days of each, and a first rollup whose groups have two shops."""
    events = data / "many-shops.parquet"
    of_two = {"BATCH_ROWS": f"{int(2.2 * rows(events) / SHOPS)}"}
    taken: dict[str, dict[str, Took]] = {}
    for kind, file in (("one", data / "events.parquet"), ("many", events)):
        with _imported(new, data, kind, file) as url:
            taken[kind] = {
                "first rollup": run(url, "jobs", "rollup"),
                "rebuild": run(url, "jobs", "rebuild"),
            }
            if kind == "many":
                verified = run(url, "jobs", "verify", "--sample", "3")
    with _imported(new, data, "many", events) as url:
        grouped = run(url, "tests.bench.small_groups", "rollup", settings=of_two)
    one, many = taken["one"], taken["many"]
    found = [line for what in many for line in times(f"200 shops, {what}", many[what], one[what])]
    found += times("200 shops, groups of two", grouped, many["first rollup"])
    memory = max(took.peak_mb for took in many.values())
    return [
        *found,
        row("200 shops, verify", verified.seconds, "s"),
        row("200 shops, memory", memory, "MB"),
    ]


@contextmanager
def _imported(new: New, data: Path, kind: str, events: Path) -> Iterator[str]:
    shops = data / ("shops.ndjson" if kind == "one" else "many-shops.ndjson")
    with new() as url:
        run(url, "jobs", "import", "shops", shops)
        run(url, "jobs", "import", "events", events)
        yield url
