"""`python -m tests.bench.undos [--shops 1000] [--seconds 150]`: undos on PostgreSQL beside shops that import.

Each shop imports a batch of five events a minute, and a rollup runs each minute. Beside them, ten imports are
undone, one after the other; none of them, and no import, may take longer than five seconds. It prints how
many batches came a second, and the seconds of the imports and of each undo.
"""

import json
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import click
from sqlalchemy import text

from jobs.importing.import_file import import_file
from jobs.importing.kinds import KINDS
from jobs.importing.kinds.base import Counts
from tests.bench.databases import databases
from tests.bench.processes import run
from tests.support.import_files import as_ndjson, event
from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import open_engine

IMPORTERS = 2
PERIOD = 60.0
UNDOS = 10
MOST_SECONDS = 5.0
_UNDONE = text("SELECT (ended_at - started_at) / 1000000.0 FROM job_run WHERE job = 'undo'")
_TO_UNDO = text("SELECT MIN(import_id) FROM import_file WHERE kind = 'events' AND state = 'done'")


def importer(url: str, folder: Path, shops: list[str], seconds: float) -> list[float]:
    """Import a batch of each of the shops a minute, evenly spread; returns how long each import took."""
    took, began = [], time.monotonic()
    file = folder / f"{shops[0]}.ndjson"
    with open_arrow(url) as connection:
        for number in range(int(seconds / PERIOD * len(shops))):
            due = began + number * PERIOD / len(shops)
            time.sleep(max(due - time.monotonic(), 0))
            shop, session = shops[number % len(shops)], f"s{number}"
            rows = [
                event(shop_id=shop, form_session_id=session, event_id=f"{session}-{place}")
                for place in range(5)
            ]
            file.write_bytes(as_ndjson(rows))
            started = time.monotonic()
            import_file(connection, KINDS["events"], file, lambda _: None, Counts())
            took.append(time.monotonic() - started)
    return took


def roll_up(url: str, ends: Event) -> None:
    while not ends.wait(PERIOD):
        run(url, "jobs", "rollup")


@click.command(help=__doc__)
@click.option("--shops", default=1_000, show_default=True)
@click.option("--seconds", default=150.0, show_default=True)
def main(shops: int, seconds: float) -> None:
    names = [f"shop-{number}.example" for number in range(shops)]
    with (
        databases("postgresql")() as url,
        TemporaryDirectory() as place,
        ProcessPoolExecutor(IMPORTERS) as pool,
    ):
        folder, ends = Path(place), Event()
        stated = folder / "shops.ndjson"
        stated.write_bytes(as_ndjson([{"shop_id": name, "currency": "EUR"} for name in names]))
        run(url, "jobs", "import", "shops", stated)
        imports = [
            pool.submit(importer, url, folder, names[first::IMPORTERS], seconds)
            for first in range(IMPORTERS)
        ]
        rollups = Thread(target=roll_up, args=(url, ends))
        rollups.start()
        engine = open_engine(url)
        for _ in range(UNDOS):
            time.sleep(seconds / (UNDOS + 1))
            with engine.connect() as connection:
                number = connection.scalar(_TO_UNDO)
            run(url, "jobs", "imports", "undo", number)
        imported = sorted(took for one in imports for took in one.result())
        ends.set()
        rollups.join()
        with engine.connect() as connection:
            undone = [round(float(took), 2) for (took,) in connection.execute(_UNDONE)]
    told = {
        "batches_per_second": round(len(imported) / seconds, 1),
        "import_seconds": {
            "median": round(statistics.median(imported), 3),
            "most": round(imported[-1], 3),
        },
        "undo_seconds": undone,
    }
    click.echo(json.dumps(told, indent=1))
    sys.exit(int(len(undone) < UNDOS or max(*undone, *imported) > MOST_SECONDS))


if __name__ == "__main__":
    main()
