"""One shop whose rows a test writes, and the answers to questions about it."""

from typing import Any

from flask.testing import FlaskClient

from tests.support.oracle.records import Row
from tests.support.product import Product
from tests.support.shop_builder import instant
from web.api.endpoint import ROW_LIMITS
from web.api.row_limit import RowLimits
from web.app import close_app, create_app

SHOP = "hand.example"
A = "aaaaaaaa-0000-4000-8000-000000000000"
B = "bbbbbbbb-0000-4000-8000-000000000000"
NOW = "2026-06-30T12:00:00"


class Stage:
    """Rows are collected by kind, and imported and rolled up by the first question after them."""

    def __init__(self, url: str, events: int = 0) -> None:
        """`events`: how many of an earlier stage are there."""
        self._url = url
        self._product = Product(url)
        self._waiting: dict[str, list[Row]] = {}
        self._events = events
        self._client: FlaskClient | None = None
        self._limits = RowLimits()

    def limit(self, rows: int, values: int = 1_000) -> None:
        """From now on, an answer has at most so many rows, and so many values of a field."""
        self.close()
        self._limits = RowLimits(rows, values)

    def shop(self, currency: str = "USD", timezone: str = "UTC") -> None:
        self._add("shops", {"shop_id": SHOP, "currency": currency, "timezone": timezone})
        for form_id in (A, B):
            self._add("forms", {"form_id": form_id, "shop_id": SHOP, "name": "A form"})

    def event(self, type: str, at: str, session: str = "s", **fields: Any) -> None:
        """An event of form A and visitor `v`; its id counts up, so a later call breaks ties as the
        greater id."""
        self._events += 1
        row = {
            "event_id": f"e{self._events:04}",
            "shop_id": SHOP,
            "form_id": A,
            "form_session_id": session,
            "visitor_id": "v",
            "type": type,
            "occurred_at": at,
        }
        self._add("events", row | fields)

    def answer(self, at: str, session: str, field: str, value: Any, kind: str = "choice") -> None:
        """By the visitor who is called like the session."""
        given = {"field_id": field, "field_type": kind, "value": value}
        self.event("answer", at, session, visitor_id=session, **given)

    def order(self, order_id: str, at: str, total: int = 1000, **fields: Any) -> None:
        row = {"order_id": order_id, "shop_id": SHOP, "created_at": at, "total_cents": total}
        self._add("orders", row | fields)

    def spend(self, date: str, campaign: str, spend: float | str, **fields: Any) -> None:
        row = {
            "shop_id": SHOP,
            "provider": "meta",
            "campaign_id": campaign,
            "campaign_name": f"Name {campaign}",
            "date": date,
            "currency": "USD",
            "spend": spend,
            "impressions": 0,
            "clicks": 0,
        }
        self._add("ad-spend", row | fields)

    def account(self, provider: str, synced_at: str, status: str = "ok", name: str = "") -> None:
        row = {"shop_id": SHOP, "provider": provider, "account_id": name, "status": status}
        self._add("ad-accounts", row | {"synced_at": synced_at})

    def rate(self, date: str, base: str, quote: str, rate: float) -> None:
        self._add("exchange-rates", {"date": date, "base": base, "quote": quote, "rate": rate})

    def ask(self, path: str, range: str = "2026-01-01..2026-06-30", **query: str) -> Any:
        """The `data` of an answer."""
        return self.body(path, range=range, **query)["data"]

    def body(self, path: str, **query: str) -> Any:
        self._take_in()
        if self._client is None:
            app = create_app(self._url, lambda: instant(NOW))
            app.config[ROW_LIMITS] = self._limits
            self._client = app.test_client()
        headers = {"Authorization": f"Bearer {self._product.key(SHOP)}"}
        answer = self._client.get(path, query_string=query, headers=headers)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return answer.get_json()

    def close(self) -> None:
        if self._client is not None:
            close_app(self._client.application)
            self._client = None

    def _add(self, kind: str, row: Row) -> None:
        self._waiting.setdefault(kind, []).append(row)

    def import_waiting(self) -> None:
        """Import the rows that wait, shops first, without a rollup."""
        if "shops" in self._waiting:
            self._import("shops")
        for kind in list(self._waiting):
            self._import(kind)

    def undo_last_import(self) -> None:
        self.close()
        self._product.undo(self._product.last_import())
        self._product.rollup()

    def _take_in(self) -> None:
        if self._waiting:
            self.close()
            self.import_waiting()
            self._product.rollup()

    def _import(self, kind: str) -> None:
        rows = self._waiting.pop(kind)
        counts = self._product.load(kind, rows)
        assert counts["rejected"] == 0, (kind, counts)


def row(rows: list[dict[str, Any]], **where: Any) -> dict[str, Any]:
    """The one row with these values."""
    (found,) = [one for one in rows if all(one[name] == value for name, value in where.items())]
    return found


def pick(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    """These columns of all rows."""
    return [tuple(one[name] for name in names) for one in rows]
