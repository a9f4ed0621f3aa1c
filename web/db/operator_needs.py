"""The conditions that need an operator, counted, for `/readyz` and the metrics."""

from sqlalchemy import Connection, text

from warehouse.operations import conditions
from warehouse.settings import REFRESH_MINUTES


def count_needs(connection: Connection, now: int) -> dict[str, int]:
    """The number of findings of each condition."""

    def query(sql: str) -> list[conditions.Row]:
        return [dict(row) for row in connection.execute(text(sql)).mappings()]

    return conditions.counts(conditions.find(query, now, REFRESH_MINUTES.get()))
