"""`python -m tests.bench.formats [--rows N] [--db sqlite|postgresql]`: how fast the formats of other
systems are imported.

The rows are those of the tests' samples over and over, each with an id of its own; a command's start
is part of its time.
"""

import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import date, timedelta
from pathlib import Path
from typing import Final

import click
import orjson

from jobs.importing.files.json import json_values
from jobs.importing.formats import FORMATS
from tests.bench.data import SHOP_ID
from tests.bench.databases import databases
from tests.bench.files import rows
from tests.bench.processes import run
from tests.support.import_files import OF_FORMAT, SAMPLES

# The id in a row's text, to which a number is added.
_IDS: Final = {
    "shopify": r'(?<="id":)\d+(?=,"admin_graphql_api_id":"gid://shopify/Order)',
    "shopify-bulk": r"gid://shopify/(Order|Refund)/\d+",
    "segment": r'"messageId":"[^"]+',
    "meta": r'"campaign_id":"\d+',
    "google-ads": r'"id":"21\d+',
    "tiktok": r'"campaign_id":"\d+',
    "spend-csv": r"c-1|Pins & more|l-9|b-1",
}
# Exports from pages are small, and are read as other tables are.
MEASURED: Final = (*_IDS, "ecb")
# The samples have rows that are rejected, too.
_FINE: Final = (0, 3)
_CURRENCIES: Final = [f"{first}{last}X" for first in "ABCDE" for last in "ABCDEFGH"]


@click.command(help=__doc__)
@click.option("--rows", "count", default=200_000, show_default=True)
@click.option("--db", type=click.Choice(["sqlite", "postgresql"]), default="sqlite")
def main(count: int, db: str) -> None:
    click.echo(f"{'format':<14}{'rows':>9}{'MB':>7}{'seconds':>9}{'rows/s':>9}{'peak MB':>9}")
    with ExitStack() as stack:
        url = stack.enter_context(databases(db)())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        shop = folder / "shops.ndjson"
        shop.write_bytes(orjson.dumps({"shop_id": SHOP_ID, "currency": "EUR"}))
        run(url, "jobs", "import", "shops", shop)
        for name in MEASURED:
            path = folder / name
            with path.open("w") as file:
                file.writelines(lines(name, count))
            total = count if name == "ecb" else rows(path)
            took = run(
                url, "jobs", "import", FORMATS[name].kind, path, "--format", name, fine=_FINE
            )
            size = path.stat().st_size / 1e6
            rate = total / took.seconds
            click.echo(
                f"{name:<14}{total:>9,}{size:>7.0f}{took.seconds:>9.2f}{rate:>9,.0f}"
                f"{took.peak_mb:>9.0f}"
            )
            path.unlink()


def lines(name: str, count: int) -> Iterator[str]:
    """A file of so many rows in a format, line by line."""
    return _ecb(count) if name == "ecb" else _repeated(name, count)


def _repeated(name: str, count: int) -> Iterator[str]:
    sample = SAMPLES / OF_FORMAT[name][0]
    if sample.suffix == ".csv":
        header, *found = sample.read_text().splitlines(keepends=True)
        yield header
    else:
        values = json_values(sample, FORMATS[name].list_members)
        found = [f"{orjson.dumps(value.record, default=float).decode()}\n" for value in values]
    named = re.compile(_IDS[name])
    for number in range(count):
        repeat, place = divmod(number, len(found))
        yield named.sub(rf"\g<0>{repeat:07}", found[place])


def _ecb(count: int) -> Iterator[str]:
    yield f"Date,{','.join(_CURRENCIES)},\n"
    for days in range(count // len(_CURRENCIES)):
        day = date(2100, 1, 1) - timedelta(days=days + 1)
        yield f"{day},{'1.0340,' * len(_CURRENCIES)}\n"


if __name__ == "__main__":
    main()
