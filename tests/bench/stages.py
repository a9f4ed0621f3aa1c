"""The stages of one run on one database, in their order."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench import floors, repeated, service
from tests.bench.files import rows
from tests.bench.processes import Took, run

Result = dict[str, Any]
# Everything but the events, in the order in which it is imported.
_AROUND = ("shops", "forms", "exchange-rates", "ad-spend", "orders")


def run_all(data: Path, new_url: Callable[[], str], say: Callable[[str], None]) -> Result:
    """Measure everything on databases of one kind; `new_url` gives an empty one."""
    events = rows(data / "events.parquet")
    say("floors: bare writing and reading")
    floor = floors.measure(new_url(), data / "events.parquet")
    write_rate, read_rate = events / floor["write_seconds"], events / floor["read_seconds"]
    result: Result = {"events": events, "floor": floor}

    url = new_url()
    say("import: all but events")
    result["import around"] = {
        kind: _rate(run(url, "jobs", "import", kind, path), rows(path))
        for kind in _AROUND
        for path in [data / f"{kind}.ndjson"]
    }
    say("import: events, NDJSON")
    took = run(url, "jobs", "import", "events", data / "events.ndjson")
    result["import ndjson"] = _rate(took, events, write_rate)
    say("first rollup")
    result["first rollup"] = _rate(run(url, "jobs", "rollup"), events, read_rate)
    say("refresh after late events")
    late = rows(data / "late.ndjson")
    took = run(url, "jobs", "import", "events", data / "late.ndjson")
    result["import late"] = _rate(took, late)
    result["refresh"] = run(url, "jobs", "rollup").as_dict(rows=late)
    say("the nineteen endpoints")
    result["endpoints"] = service.measure(url)
    say("the same answers for many at once")
    result["repeated"] = repeated.measure(url)

    url = new_url()
    say("import: events, Parquet")
    for kind in ("shops", "forms"):
        run(url, "jobs", "import", kind, data / f"{kind}.ndjson")
    took = run(url, "jobs", "import", "events", data / "events.parquet")
    result["import parquet"] = _rate(took, events, write_rate)
    return result


def _rate(took: Took, count: int, floor: float | None = None) -> Result:
    """With rows a second and, where there is a floor, how many times slower than it."""
    rate = count / took.seconds
    ratio = {"times_floor": round(floor / rate, 2)} if floor else {}
    return took.as_dict(rows=count, rows_per_second=round(rate), **ratio)
