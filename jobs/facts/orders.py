"""Orders: the standing versions into the working set, with the codes they used."""

import json

import numpy as np
import pandas as pd

from jobs.facts.frames import by_id
from jobs.facts.raw import Words
from jobs.facts.working import Working
from warehouse.vocabulary import UNATTRIBUTED

_DERIVED = {"customer": 0, "type": UNATTRIBUTED, "session": 0, "form": 0, "utm": 0}


def place_orders(work: Working, standing: pd.DataFrame, words: Words) -> pd.DataFrame:
    """Put the standing versions (`raw.read_orders`) into the working set; a test order is none.

    Returns the codes of the placed orders: edition, order, code, discount_id, created_at, discounted,
    discount.
    """
    work.load_orders(standing[["edition", "order"]])
    rows = by_id(standing[standing["test"] == 0].assign(**_DERIVED), "order")
    work.put_orders(rows, pd.Index(standing["order"]))
    return _codes(rows, words)


def _codes(rows: pd.DataFrame, words: Words) -> pd.DataFrame:
    used = rows[rows["codes"] != "[]"]
    lists = [json.loads(text) for text in used["codes"].tolist()]
    lengths = np.array([len(entries) for entries in lists], dtype=np.int64)
    entries = [entry for entries in lists for entry in entries]
    frame = pd.DataFrame(
        {
            "edition": np.repeat(used["edition"].to_numpy(), lengths),
            "order": np.repeat(used["order"].to_numpy(), lengths),
            "code": np.array([words.learn(code) for code, _, _ in entries], dtype=np.int64),
            "discount_id": pd.Series([discount for _, _, discount in entries], dtype="str"),
            "created_at": np.repeat(used["created_at"].to_numpy(), lengths),
            "discounted": np.array([amount for _, amount, _ in entries], dtype=np.int64),
            "discount": np.zeros(len(entries), dtype=np.int64),
        }
    )
    words.note(frame["edition"].to_numpy(), frame["code"].to_numpy())
    return frame
