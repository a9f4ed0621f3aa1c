"""Nights of many shops, of very different sizes, beside the same events in one shop."""

from pathlib import Path

from tests.bench.databases import New
from tests.bench.processes import Took, run


def measure(new: New, data: Path, kind: str) -> dict[str, Took]:
    """The nights of `one` shop or of `many`, in an empty warehouse, by name: the `import` (Parquet), the
    `first rollup`, the `rebuild`; of many, then the `next night` (a rollup after new events of a few
    shops) and the `verify` of three days of each shop."""
    shops = data / ("shops.ndjson" if kind == "one" else "many-shops.ndjson")
    events = data / ("one-shop.parquet" if kind == "one" else "many-shops.parquet")
    with new() as url:
        run(url, "jobs", "import", "shops", shops)
        taken = {
            "import": run(url, "jobs", "import", "events", events),
            "first rollup": run(url, "jobs", "rollup"),
            "rebuild": run(url, "jobs", "rebuild"),
        }
        if kind == "many":
            run(url, "jobs", "import", "events", data / "many-next.ndjson")
            taken["next night"] = run(url, "jobs", "rollup")
            taken["verify"] = run(url, "jobs", "verify", "--sample", "3")
    return taken
