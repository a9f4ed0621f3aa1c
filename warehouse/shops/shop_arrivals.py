"""The data of a shop that have come in: the rows of each source, the first and the last.

For the page on which a person sets the shop up. It counts rows, so other pages do not ask for it.
"""

from dataclasses import dataclass
from datetime import date
from typing import Final

from sqlalchemy import Connection, text

from warehouse.domain.time import day_date, from_micros

_ARRIVALS: Final = text("""
SELECT kind, SUM(rows + purged) AS rows, MIN(imported_at) AS oldest, MAX(imported_at) AS newest
  FROM import_batch WHERE shop_key = :shop_key GROUP BY kind
UNION ALL
SELECT 'ad-spend', COUNT(*), MIN(day), MAX(day) FROM ad_spend WHERE shop_key = :shop_key
UNION ALL
SELECT 'ad-accounts', COUNT(*), MIN(synced_at), MAX(synced_at)
  FROM ad_account WHERE shop_key = :shop_key
UNION ALL
SELECT 'exchange-rates', COUNT(*), MIN(day), MAX(day) FROM exchange_rate
""")
_OF_DAYS: Final = "of the days"
# The things that the first and the last date of a kind belong to.
_DATES: Final = {
    "events": "imported",
    "orders": "imported",
    "ad-spend": _OF_DAYS,
    "ad-accounts": "fetched",
    "exchange-rates": _OF_DAYS,
}


@dataclass(frozen=True)
class Arrival:
    """One source: its kind, and the rows that are there. `oldest` and `newest` are what `dates` says: the
    imports of events and orders and the pulls of accounts (datetimes in UTC), the days of spend and rates;
    None without rows."""

    kind: str
    rows: int
    oldest: date | None
    newest: date | None

    @property
    def dates(self) -> str:
        return _DATES[self.kind]


def read_arrivals(connection: Connection, shop_key: int) -> list[Arrival]:
    """The arrivals of events, orders, ad spend, ad accounts and exchange rates. Rates are those of all
    shops."""
    rows = {row.kind: row for row in connection.execute(_ARRIVALS, {"shop_key": shop_key})}
    arrivals = []
    for kind, dates in _DATES.items():
        row = rows.get(kind)
        if row is None or not row.rows:
            arrivals.append(Arrival(kind, 0, None, None))
            continue
        moment = day_date if dates == _OF_DAYS else from_micros
        arrivals.append(Arrival(kind, int(row.rows), moment(row.oldest), moment(row.newest)))
    return arrivals
