"""Orders: the standing versions that a batch brings, in place of the stored ones."""

from typing import Final

import pandas as pd

from jobs.facts.changes import Versions, by_id, put
from warehouse.domain.vocabulary import UNATTRIBUTED

_NOT_DERIVED_YET: Final = {"customer": 0, "type": UNATTRIBUTED, "session": 0, "form": 0, "utm": 0}


def batch_orders(standing: pd.DataFrame) -> pd.DataFrame:
    """The standing versions (`RawOrders.orders`) that count, by order id: a test order counts nowhere."""
    return by_id(standing[standing["test"] == 0].assign(**_NOT_DERIVED_YET), "order")


def replaced(stored: pd.DataFrame, standing: pd.DataFrame) -> Versions:
    """Stored orders (by id) before and after the standing versions take their place."""
    kept = stored[~stored.index.isin(standing["order"])]
    return Versions(stored, put(kept, batch_orders(standing)))
