"""Raw rows as frames of numbers: every text that only identifies something becomes its id.

Ids of visitors, customers, e-mails, orders and form sessions are hashed with the shop's key, so they
are unique over all shops. Ids of texts that answers show (forms, steps, fields, values, codes) are
hashes of the text alone, so that a reader can compute them.

Raw rows stay as they were imported. An edition has the rules of forms under which it was built
(`warehouse/domain/form_rules.py`), and applies them where it reads rows: all that follows sees the other
form's id, or no such row.
"""

import json
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from typing import Final, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Table

from jobs.arrays.group_keys import (
    Column,
    GroupKeys,
    combine,
    distinct_rows,
    group_keys,
    index_of,
)
from jobs.facts import touched
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, names, schema_of
from warehouse.domain.form_rules import LEFT_OUT, FormRules, parse
from warehouse.domain.hash_ids import SEPARATOR, ids_of_bytes, text_id, text_ids
from warehouse.domain.vocabulary import UTM_FIELDS
from warehouse.editions.pending_batches import from_pending, sql_list

# The six UTM values in one text, each after its length; "" where there is none. Most rows have none,
# and one empty column is read faster than six. It has the name of a text column, which gives it its type.
_LENGTHS = " || ".join(f"length({name}) || ':' || {name}" for name in UTM_FIELDS)
_UTMS = f"CASE WHEN {' || '.join(UTM_FIELDS)} = '' THEN '' ELSE {_LENGTHS} END AS {UTM_FIELDS[0]}"
_EVENT_COLUMNS = (
    *("shop_key", "batch_id", "event_id", "form_id", "form_session_id", "visitor_id", "type"),
    *("occurred_at", "device", "step_id", "step_index", "step_name", "field_id", "value"),
    *("customer_id", "email_sha256", "discount_id", "page_path", "discount_code", "variant"),
)
_ORDER_COLUMNS = (
    *("shop_key", "order_id", "batch_id", "updated_at", "precedence", "content", "created_at"),
    *("gross", "refunded", "customer_id", "email_sha256", "visitor_id", "codes", "cancelled"),
    "test",
)
# Raw events that are in memory together; two parts are.
_PART_ROWS: Final = 100_000
_NO_LIMIT: Final = 2**62
# The columns that decide between versions of one instant.
_TIE = ("precedence", "content")


RulesByShop: TypeAlias = dict[int, FormRules]
"""By shop key, the rules of its edition."""


@dataclass(frozen=True)
class RawEvents:
    """Raw events of some shops.

    - `events`: edition, batch, session_hash, form, visitor, type, at, device, step, step_index, field,
      email, code, utm, variant, customer (numbers); event_id, form_session_id, step_id, step_name,
      value (JSON), customer_id, discount_id (texts); a row per event
    - `utms`: edition, utm and the six texts of UTM_FIELDS; each set of UTM values once per edition
    - `texts`: edition, id, text; the texts behind the ids of forms, steps, fields, codes, variants and values
    """

    events: pd.DataFrame
    utms: pd.DataFrame
    texts: pd.DataFrame


@dataclass(frozen=True)
class RawOrders:
    """The standing version of orders of some shops, test orders included.

    - `orders`: edition, order, created_at, gross, refunded, email, visitor, customer_seen, order_utm,
      test (numbers); order_id, customer_id (texts); a row per order
    - `codes`: edition, order, code, created_at, discounted (minor units), discount (0), and the text
      discount_id; a row per code of an order that is no test
    - `utms`, `texts`: as in `RawEvents`
    """

    orders: pd.DataFrame
    codes: pd.DataFrame
    utms: pd.DataFrame
    texts: pd.DataFrame


def rules_of(connection: ArrowConnection, editions: Iterable[int]) -> RulesByShop:
    """The rules of editions, one of each shop."""
    rows = connection.table(
        "SELECT shop_key, form_rules FROM edition "
        f"WHERE edition IN ({sql_list(editions)}) AND form_rules <> ''"
    ).to_pylist()
    return {row["shop_key"]: parse(row["form_rules"]) for row in rows}


def counted(rows: pa.Table, rules: RulesByShop) -> pa.Table:
    """Rows with shop_key, form_id and page_path under the ids that count, without those that do not."""
    if not rules:
        return rows
    shops, forms = rows["shop_key"].to_numpy(), rows["form_id"]
    ids = forms.combine_chunks().dictionary_encode()
    index, texts = ids.indices.to_numpy(), ids.dictionary.to_pylist()
    own = np.array(texts, dtype=object)[index] if texts else np.empty(0, dtype=object)
    for shop_key, of_shop in rules.items():
        for form_id in (*of_shop.forms, *(form_id for form_id, _ in of_shop.pages)):
            if form_id in texts:
                is_its = np.flatnonzero((shops == shop_key) & (index == texts.index(form_id)))
                paths = rows["page_path"].take(pa.array(is_its)).to_pylist()
                own[is_its] = [of_shop.counted_as(form_id, path) for path in paths]
    place = rows.column_names.index("form_id")
    rows = rows.set_column(place, "form_id", pa.array(own, forms.type))
    return rows.filter(pa.array(own != LEFT_OUT))


def events_of_touched(
    connection: ArrowConnection,
    editions: Mapping[int, int],
    applying: Collection[int] = (),
    *,
    are_first: bool = False,
) -> Generator[RawEvents]:
    """All raw events of the touched form sessions (`touched.py`) that count, in parts: a session may have
    more events than fit into memory. The connection does nothing else until the last is taken.

    An event counts if its edition has applied its batch, or is to apply it (`applying`). `editions`: the
    edition of each shop key, which says for which form events count. `are_first`: these editions have applied
    nothing, and nothing is staged.
    """
    among = None if are_first else touched.EVENTS
    rows = _that_count(tables.raw_event, _EVENT_COLUMNS, editions, applying, among)
    rules = rules_of(connection, editions.values())
    with closing(connection.parts_of(tables.raw_event, rows, _PART_ROWS)) as parts:
        yield from map(partial(_raw_events, editions=editions, rules=rules), parts)


def _that_count(
    table: Table,
    columns: Sequence[str],
    editions: Mapping[int, int],
    applying: Collection[int],
    touched_rows: str | None,
) -> str:
    """The SELECT of the raw rows (`r`) of the shops of these editions that count, in these columns and the
    UTM values: of what is touched (`touched.EVENTS`, `touched.VERSIONS`); or, without that, of the batches
    alone, where the editions have applied nothing."""
    columns_read = f"{names(columns, 'r.')}, {_UTMS}"
    if touched_rows is None:
        # No other row counts. As they lie they are read faster than by a look-up for each session.
        return (
            f"SELECT {columns_read} FROM {table.name} r WHERE r.batch_id IN ({sql_list(applying)})"
        )
    # The limit keeps the list of batches out of the look-ups. PostgreSQL takes it for made anew in each, and
    # would rather read the whole table for each session: minutes for a first rollup of 300 shops.
    own = (
        f"SELECT {columns_read} {touched_rows} "
        f"AND k.shop_key IN ({sql_list(editions)}) LIMIT {_NO_LIMIT}"
    )
    return f"SELECT r.* FROM ({own}) r WHERE {counts('r.batch_id', editions, applying)}"


def counts(column: str, editions: Mapping[int, int], applying: Collection[int]) -> str:
    """The SQL condition that a row is of a batch which its edition has applied, or is to apply: else figures
    would depend on how far the import is ahead. The batches that wait are few, those applied are many."""
    # No batch has the number 0: without any, nothing would be in the list or not.
    listed = sql_list((0, *applying))
    return (
        f"{column} NOT IN (SELECT p.batch_id {from_pending(sql_list(editions.values()))} "
        f"WHERE p.batch_id NOT IN ({listed}))"
    )


def read_events(
    connection: ArrowConnection,
    condition: str,
    editions: Mapping[int, int],
    *,
    as_imported: bool = False,
) -> RawEvents:
    """The raw events that meet an SQL condition. `editions`: the edition of each shop key, which says for
    which form events count, unless they are read `as_imported`."""
    rows = f"SELECT {names(_EVENT_COLUMNS, 'r.')}, {_UTMS} FROM raw_event r WHERE {condition}"
    rules = {} if as_imported else rules_of(connection, editions.values())
    return _raw_events(connection.rows_of(tables.raw_event, rows), editions, rules)


def _raw_events(table: pa.Table, editions: Mapping[int, int], rules: RulesByShop) -> RawEvents:
    table = counted(table, rules)
    shops = table["shop_key"].to_numpy()
    edition = editions_of(shops, editions)
    utm, sets = _utm_ids(table[UTM_FIELDS[0]])
    texts = []

    def shown_ids(name: str) -> Column:
        """The id of each text of a column, 0 for ""."""
        encoded = table[name].combine_chunks().dictionary_encode()
        words = encoded.dictionary.to_pylist()
        ids = np.array([text_id(word) if word else 0 for word in words], dtype=np.int64)
        index = encoded.indices.to_numpy()
        rows = group_keys(edition, index).dense().any_row()
        shown = pd.Series(np.array(words, dtype=object)[index[rows]], dtype="str")
        texts.append(
            pd.DataFrame({"edition": edition[rows], "id": ids[index[rows]], "text": shown})
        )
        return ids[index]

    frame = pd.DataFrame(
        {
            "edition": edition,
            "batch": table["batch_id"].to_numpy(),
            "session_hash": shop_ids(shops, table["form_id"], table["form_session_id"]),
            "form": shown_ids("form_id"),
            "visitor": shop_ids(shops, table["visitor_id"]),
            "type": table["type"].to_numpy().astype(np.int64),
            "at": table["occurred_at"].to_numpy(),
            "device": table["device"].to_numpy().astype(np.int64),
            "step": shown_ids("step_id"),
            "step_index": table["step_index"].to_numpy(),
            "field": shown_ids("field_id"),
            "email": shop_ids(shops, table["email_sha256"]),
            "code": shown_ids("discount_code"),
            "utm": utm,
            "variant": shown_ids("variant"),
            "customer": shop_ids(shops, table["customer_id"]),
        }
    )
    texts_as_they_are = ["event_id", "form_session_id", "step_id", "step_name", "value"]
    texts_as_they_are += ["customer_id", "discount_id"]
    for name, column in table.select(texts_as_they_are).to_pandas().items():
        frame[name] = column
    texts.append(_value_texts(edition, table["value"]))
    return RawEvents(frame, _by_edition(edition, utm, sets), unique_texts(*texts))


def orders_of_touched(
    connection: ArrowConnection,
    editions: Mapping[int, int],
    applying: Collection[int] = (),
    *,
    are_first: bool = False,
) -> RawOrders:
    """The standing versions of the touched orders; a version may stand if it counts, as an event does."""
    among = None if are_first else touched.VERSIONS
    rows = _that_count(tables.raw_order, _ORDER_COLUMNS, editions, applying, among)
    found = connection.rows_of(tables.raw_order, rows)
    return _raw_orders(found, editions) if found.num_rows else no_orders()


@cache
def no_orders() -> RawOrders:
    """The orders of a batch of events: none. To work them out would take as long as hundreds of orders."""
    columns = (*_ORDER_COLUMNS, UTM_FIELDS[0])
    return _raw_orders(schema_of(tables.raw_order, columns).empty_table(), {})


def _raw_orders(table: pa.Table, editions: Mapping[int, int]) -> RawOrders:
    shops = table["shop_key"].to_numpy()
    edition = editions_of(shops, editions)
    utm, sets = _utm_ids(table[UTM_FIELDS[0]])
    frame = table.select(["order_id", *_TIE, "customer_id", "codes"]).to_pandas()
    numbers = {
        "edition": edition,
        "order": shop_ids(shops, table["order_id"]),
        "email": shop_ids(shops, table["email_sha256"]),
        "visitor": shop_ids(shops, table["visitor_id"]),
        "customer_seen": shop_ids(shops, table["customer_id"]),
        "order_utm": utm,
    }
    for name in ("created_at", "updated_at", "gross", "refunded", "cancelled", "test"):
        numbers[name] = table[name].to_numpy().astype(np.int64)
    for name, column in numbers.items():
        frame[name] = column
    standing = frame.sort_values(["order", "updated_at", *_TIE]).drop_duplicates(
        "order", keep="last"
    )
    codes, texts = _order_codes(standing[standing["test"] == 0])
    return RawOrders(
        orders=standing.drop(columns=["updated_at", *_TIE, "codes"]),
        codes=codes,
        utms=_by_edition(edition, utm, sets),
        texts=texts,
    )


def _order_codes(orders: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The codes of orders (`codes`: JSON), and their texts."""
    used = orders[orders["codes"] != "[]"]
    lists = [json.loads(text) for text in used["codes"].tolist()]
    lengths = np.array([len(entries) for entries in lists], dtype=np.int64)
    entries = [entry for entries in lists for entry in entries]
    codes = pd.DataFrame(
        {
            "edition": np.repeat(used["edition"].to_numpy(), lengths),
            "order": np.repeat(used["order"].to_numpy(), lengths),
            "code": np.array([text_id(code) for code, _, _ in entries], dtype=np.int64),
            "discount_id": pd.Series([discount for _, _, discount in entries], dtype="str"),
            "created_at": np.repeat(used["created_at"].to_numpy(), lengths),
            "discounted": np.array([amount for _, amount, _ in entries], dtype=np.int64),
            "discount": np.zeros(len(entries), dtype=np.int64),
        }
    )
    shown = pd.Series([code for code, _, _ in entries], dtype="str")
    return codes, unique_texts(
        pd.DataFrame({"edition": codes["edition"], "id": codes["code"], "text": shown})
    )


def form_ids(column: pa.ChunkedArray) -> Column:
    """The id of each form's text. Each distinct text is hashed once."""
    encoded = column.combine_chunks().dictionary_encode()
    ids = [text_id(text) for text in encoded.dictionary.to_pylist()]
    return np.array(ids, dtype=np.int64)[encoded.indices.to_numpy()]


def unique_texts(*texts: pd.DataFrame) -> pd.DataFrame:
    """Frames of edition, id and text as one, each id once per edition; id 0 left out."""
    rows = pd.concat(texts, ignore_index=True)
    return rows[rows["id"] != 0].drop_duplicates(["edition", "id"], ignore_index=True)


def _value_texts(edition: Column, column: pa.ChunkedArray) -> pd.DataFrame:
    """The texts that answers chose (`value`: JSON, a text or a list of texts): edition, id, text."""
    encoded = column.combine_chunks().dictionary_encode()
    index = encoded.indices.to_numpy()
    chosen = [chosen_texts(value) for value in encoded.dictionary.to_pylist()]
    rows = group_keys(edition, index).dense().any_row()
    pairs = [
        (number, text)
        for number, value in zip(edition[rows].tolist(), index[rows].tolist(), strict=True)
        for text in chosen[value]
    ]
    return pd.DataFrame(
        {
            "edition": np.array([number for number, _ in pairs], dtype=np.int64),
            "id": np.array([text_id(text) for _, text in pairs], dtype=np.int64),
            "text": pd.Series([text for _, text in pairs], dtype="str"),
        }
    )


def chosen_texts(value: str) -> list[str]:
    """The texts that an answer chose: of a JSON text or list of texts; none of ""."""
    if not value:
        return []
    chosen = json.loads(value)
    return chosen if isinstance(chosen, list) else [chosen]


def chosen_ids(connection: ArrowConnection, numbers: Iterable[int]) -> pd.DataFrame:
    """edition, id; of the texts that stored answers of editions chose."""
    answers = connection.table(
        "SELECT DISTINCT edition, value FROM fact_answer "
        f"WHERE edition IN ({sql_list(numbers)}) AND value <> ''"
    )
    chosen = [
        (edition, text)
        for edition, value in zip(*(column.to_pylist() for column in answers.columns), strict=True)
        for text in chosen_texts(value)
    ]
    ids = np.array(text_ids([text for _, text in chosen]), np.int64)
    rows = pd.DataFrame(
        {"edition": np.array([edition for edition, _ in chosen], np.int64), "id": ids}
    )
    return rows.drop_duplicates(ignore_index=True)


def shop_ids(shops: Column, *columns: pa.ChunkedArray) -> Column:
    """The id of each row's text, or texts of several columns, within its shop; 0 for ""."""
    encoded = [column.combine_chunks().dictionary_encode() for column in columns]
    indexes = [one.indices.to_numpy().astype(np.int64) for one in encoded]
    sizes = [len(one.dictionary) for one in encoded]
    groups = combine(group_keys(shops), *map(GroupKeys, indexes, sizes)).dense()
    rows = groups.any_row()
    parts = (
        one.dictionary.take(pa.array(index[rows]))
        for one, index in zip(encoded, indexes, strict=True)
    )
    texts = pc.binary_join_element_wise(*parts, SEPARATOR)
    own = pc.binary_join_element_wise(pa.array(shops[rows]).cast(pa.string()), texts, SEPARATOR)
    named = pc.if_else(pc.equal(texts, ""), "", own)
    # To decode and encode them again would take a third of the time.
    ids = ids_of_bytes(named.cast(pa.binary()).to_pylist())
    return np.array(ids, dtype=np.int64)[groups.keys]


def _utm_ids(column: pa.ChunkedArray) -> tuple[Column, pd.DataFrame]:
    """The id of each row's six UTM values (0: all empty), and the distinct sets: utm and the six.

    `column`: as `_UTMS` makes it.
    """
    encoded = column.combine_chunks().dictionary_encode()
    sets = [_six_values(text) for text in encoded.dictionary.to_pylist()]
    ids = np.array([text_id(SEPARATOR.join(six)) for six in sets], dtype=np.int64)
    distinct = pd.DataFrame([six for six in sets if six], columns=list(UTM_FIELDS), dtype="str")
    distinct.insert(0, "utm", ids[ids != 0])
    return ids[encoded.indices.to_numpy()], distinct


def _six_values(text: str) -> list[str]:
    """The values in a text that `_UTMS` made; none in ""."""
    values = []
    while text:
        length, _, rest = text.partition(":")
        values.append(rest[: int(length)])
        text = rest[int(length) :]
    return values


def editions_of(shops: Column, by_shop: Mapping[int, int]) -> Column:
    """The edition of each row's shop."""
    index, keys = pd.factorize(shops)
    return np.array([by_shop[key] for key in keys.tolist()], dtype=np.int64)[index]


def _by_edition(edition: Column, utm: Column, sets: pd.DataFrame) -> pd.DataFrame:
    used = distinct_rows({"edition": edition, "utm": utm})
    index = index_of(sets["utm"].to_numpy(np.int64), used["utm"])
    own = sets.iloc[index[index >= 0]].reset_index(drop=True)
    own.insert(0, "edition", used["edition"][index >= 0])
    return own
