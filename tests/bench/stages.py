"""The stages of one run on one database, in their order.

A short stage is measured three times, each time on an empty warehouse or with files of its own, and its
median stands; one that takes 5 s or longer, and the first rollup, is measured once.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench import disk, duck, floors, raw_sql, repeated, service, shops
from tests.bench.answers import cold_rows, repeated_rows, sql_rows
from tests.bench.databases import New
from tests.bench.files import REFRESHES, rows
from tests.bench.goals import Row, row
from tests.bench.processes import Took, median, run

Result = dict[str, Any]
# Everything but the events, in the order in which it is imported.
_AROUND = ("shops", "forms", "exchange-rates", "ad-spend", "orders")
# Requests to each endpoint, for ranges that were never asked before.
REQUESTS = 100


def run_all(data: Path, new: New, say: Callable[[str], None], requests: int = REQUESTS) -> Result:
    """Measure everything on databases of one kind: the table's `rows`, and more of what is behind
    some of them."""
    parquet, events = data / "events.parquet", rows(data / "events.parquet")
    say("floor of the import: staging and one INSERT")
    floor = median(lambda: _staging(new, parquet)).seconds
    say("import: NDJSON")
    ndjson = median(lambda: _import(new, data, "events.ndjson"))
    with new() as url:
        say("import: Parquet, and all but events")
        for kind in _AROUND:
            run(url, "jobs", "import", kind, data / f"{kind}.ndjson")
        first = run(url, "jobs", "import", "events", parquet)
        taken = median(lambda: _import(new, data, parquet.name), first)
        table = [
            *_imports("import Parquet", taken, events, floor),
            *_imports("import NDJSON", ndjson, events, floor),
        ]
        table += _rollups(url, new, data, say)
        sizes = disk.measure(url)
        table += [*_rebuild(url, table, say), *_refreshes(url, data, say)]
        say("the endpoints")
        endpoints = service.measure(url, requests)
        say("the same answers for many at once")
        at_once = repeated.measure(url)
        say("the same answers by SQL over raw events")
        by_sql = raw_sql.measure(url)
    table += [*cold_rows(endpoints), *repeated_rows(at_once), *sql_rows(by_sql, endpoints)]
    table += [*_many_shops(new, data, say), *_disk(sizes, parquet, events)]
    return {
        "events": events,
        "rows": [one.as_dict() for one in table],
        "endpoints": endpoints,
        "repeated": at_once,
        "sql": by_sql,
        "disk": sizes,
    }


def _staging(new: New, parquet: Path) -> Took:
    with new() as url:
        return floors.staging(url, parquet)


def _import(new: New, data: Path, name: str) -> Took:
    with new() as url:
        for kind in ("shops", "forms"):
            run(url, "jobs", "import", kind, data / f"{kind}.ndjson")
        return run(url, "jobs", "import", "events", data / name)


def _imports(what: str, took: Took, events: int, floor: float) -> list[Row]:
    return [
        row(what, events / took.seconds, "rows/s", events / floor),
        row(f"{what}, memory", took.peak_mb, "MB"),
    ]


def _rollups(url: str, new: New, data: Path, say: Callable[[str], None]) -> list[Row]:
    say("first rollup")
    took = run(url, "jobs", "rollup")
    say("floor of the rollup: reading raw rows, writing facts")
    floor = median(lambda: floors.reading(url)).seconds + median(lambda: _writing(url, new)).seconds
    say("the same by DuckDB")
    peer = median(lambda: duck.measure(data))
    return [
        row("first rollup", took.seconds, "s", floor),
        row("first rollup, memory", took.peak_mb, "MB"),
        row("first rollup beside DuckDB", took.seconds, "s", peer.seconds),
    ]


def _writing(url: str, new: New) -> Took:
    with new() as empty:
        return floors.writing(url, empty)


def _rebuild(url: str, before: list[Row], say: Callable[[str], None]) -> list[Row]:
    say("rebuild")
    first = next(one.value for one in before if one.what == "first rollup")
    took = median(lambda: run(url, "jobs", "rebuild"))
    return [row("rebuild", took.seconds, "s", first), row("rebuild, memory", took.peak_mb, "MB")]


def _refreshes(url: str, data: Path, say: Callable[[str], None]) -> list[Row]:
    start = median(lambda: floors.process_start(url)).seconds
    found = []
    for name, what in (("late", "late events"), ("today", "events of today")):
        say(f"refresh after {what}")
        files = (data / f"{name}-{number}.ndjson" for number in range(REFRESHES))
        took = median(partial(_refresh, url, files))
        found.append(row(f"refresh after {what}", took.seconds, "s", start))
    return found


def _refresh(url: str, files: Iterator[Path]) -> Took:
    """After the next of the files."""
    run(url, "jobs", "import", "events", next(files))
    return run(url, "jobs", "rollup")


def _many_shops(new: New, data: Path, say: Callable[[str], None]) -> list[Row]:
    say("nights of many shops")
    one, many = (shops.measure(new, data, kind) for kind in ("one", "many"))
    return [
        *(
            row(f"many shops, {what}", took.seconds, "s", one[what].seconds)
            if what in one
            else row(f"many shops, {what}", took.seconds, "s")
            for what, took in many.items()
        ),
        row("many shops, memory", max(took.peak_mb for took in many.values()), "MB"),
    ]


def _disk(sizes: dict[str, int], parquet: Path, events: int) -> list[Row]:
    file = parquet.stat().st_size / events
    layers = [row(f"disk: {layer}", size / events, "B/event") for layer, size in sizes.items()]
    return [*layers, row("disk: all", sum(sizes.values()) / events, "B/event", file)]
