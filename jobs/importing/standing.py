"""Kinds whose rows stand until a later import replaces them: all but events and orders."""

from collections.abc import Sequence
from typing import Any, ClassVar

import pyarrow as pa

from jobs.importing.checks import Checks
from jobs.importing.kind import Kind, Written
from jobs.importing.rows import Field, read_columns
from jobs.importing.shops import Shops
from jobs.importing.upserts import Upsert, last_wins
from warehouse.bulk import Bulk


class Standing(Kind):
    """A kind that is a list of fields and a way to replace rows.

    `reads`: the fields but `shop_id`, in the order of the rows' columns; of a kind whose rows belong
    to a shop (`of_shop`), the shop's key is the first column.
    """

    reads: ClassVar[tuple[Field, ...]]
    way: ClassVar[Upsert]
    of_shop: ClassVar[bool] = True

    def check(self, checks: Checks, shops: Shops) -> pa.Table:
        """The columns of the way's rows."""
        shop = [checks.shop(shops.keys)] if self.of_shop else []
        columns = self.arrange([*shop, *read_columns(checks, self.reads)])
        schema = self.way.schema
        arrays = [pa.array(values, kind.type) for values, kind in zip(columns, schema, strict=True)]
        return pa.table(arrays, schema)

    def arrange(self, columns: list[Any]) -> Sequence[Any]:
        """What was read, as the columns of the rows."""
        return columns

    def write(self, bulk: Bulk, rows: pa.Table) -> Written:
        """Compare the rows with what stands, and replace what they change."""
        return last_wins(bulk, self.way, rows)
