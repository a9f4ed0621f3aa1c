"""Raw events as their shop has their forms counted (`warehouse/domain/form_rules.py`).

Raw rows stay as they were imported. An edition has the rules under which it was built, and applies them where
it reads rows: all that follows sees the other form's id, or no such row.
"""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.form_rules import LEFT_OUT, counted_as, parse
from warehouse.editions.pending_batches import sql_list

RulesByShop: TypeAlias = dict[int, dict[str, str]]
"""By shop key, the form that each form with a rule counts for, LEFT_OUT for none."""


def rules_of(connection: ArrowConnection, editions: Iterable[int]) -> RulesByShop:
    """The rules of editions, one of each shop."""
    rows = connection.table(
        "SELECT shop_key, form_rules FROM edition "
        f"WHERE edition IN ({sql_list(editions)}) AND form_rules <> ''"
    ).to_pylist()
    parsed = {row["shop_key"]: parse(row["form_rules"]) for row in rows}
    return {
        shop_key: {form_id: counted_as(rules, form_id) for form_id in rules}
        for shop_key, rules in parsed.items()
    }


def counted(rows: pa.Table, rules: RulesByShop) -> pa.Table:
    """Rows with shop_key and form_id under the ids that count, without those of forms that are left out."""
    if not rules:
        return rows
    shops, forms = rows["shop_key"].to_numpy(), rows["form_id"]
    ids = forms.combine_chunks().dictionary_encode()
    index, texts = ids.indices.to_numpy(), ids.dictionary.to_pylist()
    own = np.array(texts, dtype=object)[index] if texts else np.empty(0, dtype=object)
    for shop_key, of_shop in rules.items():
        for form_id, other in of_shop.items():
            if form_id in texts:
                own[(shops == shop_key) & (index == texts.index(form_id))] = other
    place = rows.column_names.index("form_id")
    rows = rows.set_column(place, "form_id", pa.array(own, forms.type))
    return rows.filter(pa.array(own != LEFT_OUT))
