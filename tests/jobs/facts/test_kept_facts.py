"""Kept facts: merged with the partial facts of the other events, they are those of all events."""

from random import Random

import pandas as pd
from hypothesis import given
from pandas.testing import assert_frame_equal

from jobs.facts import kept_facts, read_raw, touched
from jobs.facts.kept_facts import IDENTIFIERS, keep, with_kept
from jobs.facts.partials import Partials, fold
from tests.support.examples import EXAMPLES, start_over
from tests.support.product import Product
from tests.support.strategies import seeds, worlds
from tests.support.worlds import World
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, open_arrow

# More than there are: each is to be applied.
BATCHES = range(1_000)


def partials_of(connection: ArrowConnection, editions: dict[int, int], which: str) -> Partials:
    orders = f"SELECT {touched.ORDER} FROM raw_order"
    touched.stage(connection, orders=orders)
    return fold(
        read_raw.read_events(connection, which, editions),
        read_raw.orders_of_touched(connection, editions, BATCHES),
    )


def keep_part(connection: ArrowConnection, editions: dict[int, int], which: str, part: int) -> None:
    """Keep the facts of some events, of each shop in a batch of its own."""
    columns = ", ".join(("shop_key", "event_id", *IDENTIFIERS))
    rows = connection.rows_of(tables.raw_event, f"SELECT {columns} FROM raw_event WHERE {which}")
    events = read_raw.read_events(connection, which, editions)
    identifiers = rows.to_pandas()
    identifiers["edition"] = identifiers.pop("shop_key").map(editions)
    kept = keep(events, identifiers) if rows.num_rows else {}
    for shop_key, edition in editions.items():
        if edition in kept:
            batch_id = 1_000_000 * part + shop_key
            kept_facts.write(connection, batch_id, shop_key, kept[edition])


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values(list(rows)).reset_index(drop=True)[sorted(rows)]


@given(given_world=worlds(), seed=seeds)
@EXAMPLES
def test_the_parts_give_what_all_gave(sqlite_url: str, given_world: World, seed: int) -> None:
    """However the events are shared out, and some of them kept twice."""
    product, rng = Product(sqlite_url), Random(seed)
    start_over(product, given_world)
    for kind in ("shops", "events", "orders"):
        product.load(kind, given_world.records[kind])
    product.close()
    with open_arrow(product.url) as connection:
        shops = connection.table("SELECT shop_key FROM shop").column(0).to_pylist()
        editions = {shop_key: 100 + shop_key for shop_key in shops}
        expected = partials_of(connection, editions, "true")
        modulus, left = rng.choice((2, 3, 5)), rng.randrange(5)
        part = f"CAST(SUBSTR(event_id, 2) AS BIGINT) % {modulus}"
        for number in range(modulus):
            if number != left:
                keep_part(connection, editions, f"{part} = {number}", number)
        keep_part(connection, editions, f"{part} IN (0, 1)", modulus)
        kept = kept_facts.read(connection, editions)
        rest = partials_of(connection, editions, f"{part} = {left}")
        found = with_kept(rest, [(editions[shop_key], facts) for _, shop_key, facts in kept])
        for name, rows in vars(expected).items():
            assert_frame_equal(in_order(getattr(found, name)), in_order(rows), obj=name)
        for table in ("kept_facts", "kept_key"):
            connection.execute(f"DELETE FROM {table}")
        connection.commit()
