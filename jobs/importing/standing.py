"""Kinds whose rows stand until a later import replaces them: all but events and orders."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

import pyarrow as pa

from jobs.importing.checks import Checks
from jobs.importing.kind import Kind, Written
from jobs.importing.rows import Field, read_columns
from jobs.importing.shops import Shops
from jobs.importing.upserts import Outcome, Upsert, lock, schema_of, upsert
from warehouse.bulk import Bulk


class Standing(Kind):
    """A kind that is a list of fields and a way to replace rows.

    `reads`: the fields but `shop_id`, in the order of the rows' columns; of a kind whose rows belong
    to a shop (`of_shop`), the shop's key is the first column.
    """

    reads: ClassVar[tuple[Field, ...]]
    of_shop: ClassVar[bool] = True

    @abstractmethod
    def way(self) -> Upsert:
        """How rows are replaced by an import of this moment."""

    def check(self, checks: Checks, shops: Shops) -> pa.Table:
        """The columns of the way's rows."""
        shop = [checks.shop(shops.keys)] if self.of_shop else []
        columns = self.arrange([*shop, *read_columns(checks, self.reads)])
        schema = schema_of(self.way())
        arrays = [pa.array(values, kind.type) for values, kind in zip(columns, schema, strict=True)]
        return pa.table(arrays, schema)

    def arrange(self, columns: list[Any]) -> Sequence[Any]:
        """What was read, as the columns of the rows."""
        return columns

    def write(self, bulk: Bulk, rows: pa.Table) -> Written:
        """Compare the rows with what stands, and replace what they change."""
        way = self.way()
        lock(bulk, way.table)
        columns = [column.to_pylist() for column in rows.columns]
        outcomes = Counter(upsert(bulk, way, list(zip(*columns, strict=True))))
        return Written(
            outcomes[Outcome.NEW], outcomes[Outcome.DUPLICATE], outcomes[Outcome.REPLACED]
        )
