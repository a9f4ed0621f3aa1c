"""The data behind the answers of one shop, each derived thing once."""

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from tests.support.oracle.attribution import Credit, credit, effective_utm
from tests.support.oracle.campaigns import Spend, spend_of
from tests.support.oracle.customers import customer_key, customers_by_email
from tests.support.oracle.discounts import discounts_by_code
from tests.support.oracle.orders import Order, orders_of
from tests.support.oracle.records import Row, events_of, last_import_wins, present
from tests.support.oracle.row_limit import LIMITS, RowLimits
from tests.support.oracle.sessions import Session, new_sessions, sessions_of
from tests.support.oracle.times import local_day


@dataclass(frozen=True)
class Question:
    """The question, with `range` resolved to days of the shop."""

    first: date
    last: date
    today: date
    """The shop's current day."""
    now: datetime
    params: dict[str, str]
    form_id: str = ""
    limits: RowLimits = LIMITS


class State:
    """One shop: its settings, raw records, and what follows from them."""

    def __init__(self, records: dict[str, list[Row]], shop_id: str, window_days: int) -> None:
        shops = last_import_wins(records.get("shops", []), "shop_id")
        [shop] = [row for row in shops if row["shop_id"] == shop_id]
        self.currency: str = shop["currency"]
        self.timezone = ZoneInfo(present(shop, "timezone") or "UTC")
        self.window_days = window_days
        mine = {
            kind: [row for row in rows if row.get("shop_id") == shop_id]
            for kind, rows in records.items()
        }
        # Section 2: of one form the version with the latest `updated_at` stands.
        versions = sorted(mine.get("forms", []), key=lambda row: row.get("updated_at") or "")
        self.form_names: dict[str, str] = {row["form_id"].lower(): row["name"] for row in versions}
        self.events = events_of(mine.get("events", []), shop_id)
        self.orders = orders_of(mine.get("orders", []), shop_id)
        self.codes_of_forms = [
            (row["form_id"].lower(), row["code"].upper()) for row in mine.get("codes", [])
        ]
        self.spend: list[Spend] = spend_of(mine.get("ad-spend", []))
        self.accounts = last_import_wins(mine.get("ad-accounts", []), "provider", "account_id")
        self.rates = last_import_wins(records.get("exchange-rates", []), "date", "base", "quote")

    @cached_property
    def sessions(self) -> list[Session]:
        """Section 3: "a member ties a code to a form: every submission of the form counts as having been
        issued it"."""
        return [
            replace(session, codes=session.codes | self._tied_to(session))
            for session in sessions_of(self.events)
        ]

    def _tied_to(self, session: Session) -> set[str]:
        is_its = session.submitted_at is not None
        return {
            code for form_id, code in self.codes_of_forms if is_its and form_id == session.form_id
        }

    @cached_property
    def submissions(self) -> list[Session]:
        """Section 1: "a form session that reached `subscribe` or `complete`"."""
        return [session for session in self.sessions if session.submitted_at]

    def with_only(self, sessions: list[Session]) -> "State":
        """The shop as if it had no other sessions, nor other orders than those credited to them: "credited as
        they are, each `new` or `returning` as in the whole shop, steps named as in the whole shop"."""
        other = copy(self)
        other.__dict__ |= {
            "sessions": sessions,
            "submissions": [session for session in sessions if session.submitted_at],
            "new_sessions": self.new_sessions,
            "credits": self.credits,
            "_orders_by_session": self._orders_by_session,
            "orders": [one for one in self.orders if self.credits[one.id].session in sessions],
        }
        return other

    @cached_property
    def new_sessions(self) -> set[Session]:
        return new_sessions(self.sessions)

    @cached_property
    def _customers_by_email(self) -> dict[str, str]:
        return customers_by_email(self.events, self.orders)

    def customer(self, thing: Session | Order) -> str | None:
        """The customer key of a session or an order."""
        return customer_key(thing, self._customers_by_email)

    @cached_property
    def first_orders(self) -> set[str]:
        """22: "the first order ever of its customer key (earliest `created_at`; ties: the smaller order id;
        cancelled ones count)"."""
        first: dict[str, Order] = {}
        for order in self.orders:
            customer = self.customer(order)
            if customer is not None:
                before = first.get(customer, order)
                first[customer] = min(before, order, key=lambda one: (one.at, one.id))
        return {order.id for order in first.values()}

    def customer_type(self, order: Order) -> str:
        if self.customer(order) is None:
            return "unknown"
        return "new" if order.id in self.first_orders else "returning"

    @cached_property
    def credits(self) -> dict[str, Credit]:
        """Order id -> its credit."""
        return {
            order.id: credit(order, self.submissions, self.customer, self.window_days)
            for order in self.orders
        }

    @cached_property
    def _orders_by_session(self) -> dict[Session, list[Order]]:
        outcome: dict[Session, list[Order]] = {}
        for order in self.orders:
            session = self.credits[order.id].session
            if session:
                outcome.setdefault(session, []).append(order)
        return outcome

    def outcome(self, submissions: Iterable[Session], days: int | None = None) -> list[Order]:
        """The submission clock: all orders credited to these, whenever they came; or those "less than" so
        many days "x 24 h after the submission"."""
        return [order for session in submissions for order in self._ordered(session, days)]

    def converted(self, submissions: Iterable[Session], days: int | None = None) -> list[Session]:
        """Section 1: "to which at least one order is attributed, ever"; or so many days after it."""
        return [session for session in submissions if self._ordered(session, days)]

    def _ordered(self, session: Session, days: int | None) -> list[Order]:
        orders = self._orders_by_session.get(session, [])
        if days is None or session.submitted_at is None:
            return orders
        end = session.submitted_at + timedelta(hours=24 * days)
        return [order for order in orders if order.at < end]

    def utm(self, order: Order) -> tuple[str, ...]:
        """The order's effective UTM."""
        return effective_utm(order, self.credits[order.id])

    @cached_property
    def discounts(self) -> dict[str, str]:
        """Upper-cased code -> its discount."""
        return discounts_by_code(self.events, self.orders, self.submissions)

    def day(self, at: datetime) -> date:
        return local_day(at, self.timezone)

    def within(self, at: datetime | None, question: Question) -> bool:
        return at is not None and question.first <= self.day(at) <= question.last

    def reached(
        self, sessions: Iterable[Session], milestone: str, question: Question
    ) -> list[Session]:
        """Sessions whose milestone lies in the range: "on the day it first happened"."""
        return [s for s in sessions if self.within(s.milestones.get(milestone), question)]

    def submitted(self, sessions: Iterable[Session], question: Question) -> list[Session]:
        return [session for session in sessions if self.within(session.submitted_at, question)]

    def ordered(self, question: Question) -> list[Order]:
        """The order clock: orders created in the range."""
        return [order for order in self.orders if self.within(order.at, question)]

    def of_form(self, form_id: str) -> list[Session]:
        return [session for session in self.sessions if session.form_id == form_id]


Answer = Callable[[State, Question], Any]

ANSWERS: dict[str, Answer] = {}
"""The function of each address; `{id}` stands for a form."""


def answers(address: str) -> Callable[[Answer], Answer]:
    """Makes a function the answer to GET `address`."""

    def enrol(answer: Answer) -> Answer:
        ANSWERS[address] = answer
        return answer

    return enrol
