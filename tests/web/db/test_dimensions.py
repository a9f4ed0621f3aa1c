"""Texts behind ids: few are read once and kept, many are read in portions and not kept."""

from sqlalchemy import Engine, insert

from tests.support.clients import statements
from tests.support.shop_builder import ShopBuilder, writing
from warehouse.connections.engine import open_engine
from warehouse.domain.hash_ids import text_ids
from warehouse.tables import dim_text
from web.db.dimensions import Dimensions


def written(engine: Engine, shop: ShopBuilder, count: int) -> tuple[list[str], list[int]]:
    texts = [f"text {number}" for number in range(count)]
    ids = text_ids(texts)
    rows = [
        {"edition": shop.edition, "id": id, "text": text}
        for id, text in zip(ids, texts, strict=True)
    ]
    with writing(engine) as connection:
        connection.execute(insert(dim_text), rows)
    return texts, ids


def test_many_texts_take_the_place_of_no_other(warehouse_url: str) -> None:
    engine = open_engine(warehouse_url, pooled=True)
    shop, dimensions = ShopBuilder(engine), Dimensions()
    texts, ids = written(engine, shop, 10_001)
    utms = [shop.utm({"source": "a", "id": "b"}), 0]
    with engine.connect() as connection:

        def read(ids: list[int]) -> tuple[list[str], int]:
            """The texts of these ids, and how many statements that took."""
            with statements() as asked:
                found = list(dimensions.each_text(connection, shop.edition, ids))
            return found, len([one for one in asked if "dim_text" in one])

        assert read(ids) == (texts, 6)
        assert read(ids) == (texts, 6)
        few = [*ids[:3], 0, ids[0]]
        expected = [*texts[:3], "", texts[0]]
        assert [read(few), read(few)] == [(expected, 1), (expected, 0)]
        assert list(dimensions.each_utm(connection, shop.edition, utms)) == [
            ("a", "", "", "", "", "b"),
            ("",) * 6,
        ]
    engine.dispose()
