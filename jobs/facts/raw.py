"""Raw rows of import batches, as frames of numbers: every text that only identifies becomes its id.

Ids of visitors, customers, e-mails, orders and form sessions are made with the shop's key, so they
are unique over all shops of a frame; ids of words that answers show (forms, steps, fields, values,
codes) are made of the word alone, since a reader has to find them.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from jobs.codes import Codes, code, combine
from warehouse import tables
from warehouse.bulk import Bulk
from warehouse.ids import SEPARATOR, text_id, text_ids
from warehouse.vocabulary import UTM_FIELDS

# The six UTM values in one text, each behind its length; "" where there is none. Most rows have none,
# and six columns of nothing take a quarter of the time of reading.
_LENGTHS = " || ".join(f"length({name}) || ':' || {name}" for name in UTM_FIELDS)
_UTMS = f"CASE WHEN {' || '.join(UTM_FIELDS)} = '' THEN '' ELSE {_LENGTHS} END"
_EVENT = (
    "shop_key, event_id, form_id, form_session_id, visitor_id, type, occurred_at, device, "
    "step_id, step_index, step_name, field_id, value, customer_id, email_sha256, discount_id, "
    # Under the name of a text column, since it is one.
    f"discount_code, {_UTMS} AS {UTM_FIELDS[0]}"
)
_ORDER = (
    "r.shop_key, r.order_id, updated_at, content, created_at, gross, refunded, customer_id, "
    f"email_sha256, visitor_id, codes, test, {_UTMS} AS {UTM_FIELDS[0]}"
)


class Words:
    """Texts met on the way, by edition and id: what `dim_text` must know."""

    def __init__(self) -> None:
        self._met: dict[int, str] = {}
        self._pairs: list[pd.DataFrame] = []

    def note(self, editions: np.ndarray, ids: np.ndarray) -> None:
        """These ids are used in these editions (their texts were met in `ids_of`)."""
        pairs = pd.DataFrame({"edition": editions, "id": ids})
        self._pairs.append(pairs[pairs["id"] != 0].drop_duplicates())

    def learn(self, text: str) -> int:
        number = text_id(text)
        self._met[number] = text
        return number

    def text(self, number: int) -> str | None:
        return self._met.get(number)

    def frame(self) -> pd.DataFrame:
        """`edition, id, text` of everything noted."""
        if not self._pairs:
            return pd.DataFrame({"edition": [], "id": [], "text": []})
        pairs = pd.concat(self._pairs, ignore_index=True).drop_duplicates()
        return pairs.assign(text=[self._met[number] for number in pairs["id"].tolist()])


def column_ids(column: pa.ChunkedArray, words: Words | None = None) -> np.ndarray:
    """The id of each text of a column, 0 for "". Each distinct text is hashed once."""
    encoded = column.combine_chunks().dictionary_encode()
    learn = words.learn if words else text_id
    ids = [learn(text) if text else 0 for text in encoded.dictionary.to_pylist()]
    return np.array(ids, dtype=np.int64)[encoded.indices.to_numpy()]


def shop_ids(shops: np.ndarray, *columns: pa.ChunkedArray) -> np.ndarray:
    """The id of each row's text, or texts of several columns, within its shop; 0 for ""."""
    encoded = [column.combine_chunks().dictionary_encode() for column in columns]
    places = [one.indices.to_numpy().astype(np.int64) for one in encoded]
    sizes = [len(one.dictionary) for one in encoded]
    rows_by_text = combine(code(shops), *map(Codes, places, sizes)).dense()
    rows = rows_by_text.places()
    parts = (
        one.dictionary.take(pa.array(place[rows]))
        for one, place in zip(encoded, places, strict=True)
    )
    texts = pc.binary_join_element_wise(*parts, SEPARATOR).to_pylist()
    ids = text_ids(
        [
            f"{shop}{SEPARATOR}{text}" if text else ""
            for shop, text in zip(shops[rows].tolist(), texts, strict=True)
        ]
    )
    return np.array(ids, dtype=np.int64)[rows_by_text.codes]


def utm_ids(column: pa.ChunkedArray) -> tuple[np.ndarray, pd.DataFrame]:
    """The id of each row's six UTM values (0: all empty), and the distinct sets: `utm` and the six.

    `column`: as `_UTMS` makes it."""
    encoded = column.combine_chunks().dictionary_encode()
    sets = [_six(text) for text in encoded.dictionary.to_pylist()]
    ids = np.array([text_id(SEPARATOR.join(six)) for six in sets], dtype=np.int64)
    known = pd.DataFrame([six for six in sets if six], columns=list(UTM_FIELDS), dtype="str")
    known.insert(0, "utm", ids[ids != 0])
    return ids[encoded.indices.to_numpy()], known


def _six(text: str) -> list[str]:
    """The values of a text of `_UTMS`; nothing where there is none."""
    found = []
    while text:
        length, _, rest = text.partition(":")
        found.append(rest[: int(length)])
        text = rest[int(length) :]
    return found


def _editions(table: pa.Table, editions: Mapping[int, int]) -> tuple[np.ndarray, np.ndarray]:
    shops = table["shop_key"].to_numpy()
    codes, keys = pd.factorize(shops)
    return shops, np.array([editions[key] for key in keys.tolist()], dtype=np.int64)[codes]


def read_events(
    bulk: Bulk, condition: str, editions: Mapping[int, int], words: Words
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The raw events that meet an SQL condition, and the UTM sets in them by edition.

    `editions`: the edition of each shop key that can appear.

    Events: edition, natural (the form session), form, visitor, type, at, device, step, step_index,
    field, email, code, utm (numbers); event_id, form_session_id, step_id, step_name, value, customer_id,
    discount_id (texts).
    """
    table = bulk.rows_of(tables.raw_event, f"SELECT {_EVENT} FROM raw_event WHERE {condition}")
    shops, edition = _editions(table, editions)
    utm, sets = utm_ids(table[UTM_FIELDS[0]])
    numbers = {
        "edition": edition,
        "natural": shop_ids(shops, table["form_id"], table["form_session_id"]),
        "form": column_ids(table["form_id"], words),
        "visitor": shop_ids(shops, table["visitor_id"]),
        "type": table["type"].to_numpy().astype(np.int64),
        "at": table["occurred_at"].to_numpy(),
        "device": table["device"].to_numpy().astype(np.int64),
        "step": column_ids(table["step_id"], words),
        "step_index": table["step_index"].to_numpy(),
        "field": column_ids(table["field_id"], words),
        "email": shop_ids(shops, table["email_sha256"]),
        "code": column_ids(table["discount_code"], words),
        "utm": utm,
    }
    for name in ("form", "step", "field", "code"):
        words.note(edition, numbers[name])
    texts = [
        "event_id",
        "form_session_id",
        "step_id",
        "step_name",
        "value",
        "customer_id",
        "discount_id",
    ]
    frame = pd.DataFrame(numbers)
    for name, column in table.select(texts).to_pandas().items():
        frame[name] = column
    frame["customer"] = shop_ids(shops, table["customer_id"])
    return frame, _by_edition(edition, utm, sets)


def read_orders(
    bulk: Bulk, condition: str, editions: Mapping[int, int]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The standing version of every order of which a version meets an SQL condition, tests
    included, and the UTM sets in them by edition.

    Orders: edition, order, created_at, gross, refunded, email, visitor, customer_own, own_utm, test
    (numbers); order_id, customer_id, codes (texts).
    """
    table = bulk.rows_of(
        tables.raw_order,
        f"SELECT {_ORDER} FROM (SELECT DISTINCT shop_key, order_id FROM raw_order "
        f"WHERE {condition}) t CROSS JOIN raw_order r "
        "WHERE r.shop_key = t.shop_key AND r.order_id = t.order_id",
    )
    shops, edition = _editions(table, editions)
    utm, sets = utm_ids(table[UTM_FIELDS[0]])
    frame = table.select(["order_id", "content", "customer_id", "codes"]).to_pandas()
    numbers = {
        "edition": edition,
        "order": shop_ids(shops, table["order_id"]),
        "email": shop_ids(shops, table["email_sha256"]),
        "visitor": shop_ids(shops, table["visitor_id"]),
        "customer_own": shop_ids(shops, table["customer_id"]),
        "own_utm": utm,
    }
    for name in ("created_at", "updated_at", "gross", "refunded", "test"):
        numbers[name] = table[name].to_numpy().astype(np.int64)
    for name, column in numbers.items():
        frame[name] = column
    standing = frame.sort_values(["order", "updated_at", "content"]).drop_duplicates(
        "order", keep="last"
    )
    return standing.drop(columns=["updated_at", "content"]), _by_edition(edition, utm, sets)


def _by_edition(edition: np.ndarray, utm: np.ndarray, sets: pd.DataFrame) -> pd.DataFrame:
    used = pd.DataFrame({"edition": edition, "utm": utm}).drop_duplicates()
    return used.merge(sets, on="utm")
