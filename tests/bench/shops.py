"""One night of many shops, beside the same events in one shop."""

from pathlib import Path

from tests.bench.databases import New
from tests.bench.processes import Took, run


def measure(new: New, data: Path, kind: str) -> Took:
    """Import (Parquet) and rollup of the events of `one` shop or of `many`, in an empty warehouse."""
    shops = data / ("shops.ndjson" if kind == "one" else "many-shops.ndjson")
    events = data / ("one-shop.parquet" if kind == "one" else "many-shops.parquet")
    with new() as url:
        run(url, "jobs", "import", "shops", shops)
        taken = [run(url, "jobs", "import", "events", events), run(url, "jobs", "rollup")]
    return Took(sum(one.seconds for one in taken), max(one.peak_mb for one in taken))
