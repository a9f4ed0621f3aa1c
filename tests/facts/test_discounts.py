"""Which discount a code belongs to (contract 4, endpoint 16)."""

import pandas as pd

from jobs.facts.discounts import Discounts, resolve_discounts
from jobs.facts.raw import Words
from jobs.facts.sessions import Children
from jobs.facts.working import Working
from tests.facts.building import Row, orders, rows_of, sessions
from warehouse import tables
from warehouse.days import NEVER

FORM = "f0000000-0000-4000-8000-000000000000"


class Batch:
    """Sessions that were issued codes, and orders that used them, resolved on an empty warehouse."""

    def __init__(self, work: Working) -> None:
        self._work = work
        self._words = Words()
        self._issues: list[Row] = []
        self._codes: list[Row] = []
        self._sessions: dict[int, Row] = {}

    def issue(
        self, session: int, code: str, discount_id: str = "", *, submitted: bool = True
    ) -> None:
        self._sessions[session] = {
            "session": session,
            "form": self._words.learn(FORM),
            "submitted_at": 5 if submitted else NEVER,
        }
        number = self._words.learn(code) if code else 0
        self._issues.append({"session": session, "code": number, "discount_id": discount_id})

    def use(self, order: int, code: str, discount_id: str = "") -> None:
        number = self._words.learn(code)
        self._codes.append({"order": order, "code": number, "discount_id": discount_id})

    def resolve(self) -> Discounts:
        self._work.put_sessions(sessions(*self._sessions.values()))
        placed = orders(*({"order": one} for one in {row["order"] for row in self._codes}))
        self._work.put_orders(placed, placed.index)
        steps, answers = rows_of(tables.fact_step), rows_of(tables.fact_answer)
        issues = rows_of(tables.fact_issue, *self._issues)
        children = Children(steps, steps, answers, answers, issues.iloc[:0], issues)
        codes = rows_of(tables.fact_order_code, *self._codes)
        return resolve_discounts(self._work, children, placed.index, codes, self._words)

    def mapping(self) -> dict[str | None, str | None]:
        found = self.resolve().mapping
        return dict(zip(self._texts(found["code"]), self._texts(found["discount"]), strict=True))

    def issued(self) -> list[tuple[int, str | None]]:
        rows = self.resolve().new_issues
        return sorted(zip(rows["session"].tolist(), self._texts(rows["discount"]), strict=True))

    def _texts(self, numbers: pd.Series) -> list[str | None]:
        return [self._words.text(number) for number in numbers.tolist()]


def test_the_greatest_id_that_comes_with_it(work: Working) -> None:
    batch = Batch(work)
    batch.issue(1, "TEN", "d9")
    batch.issue(2, "TEN", "d10", submitted=False)
    batch.use(1, "TEN", "d5")
    assert batch.mapping() == {"TEN": "d9"}


def test_the_form_of_the_only_submission_that_was_issued_it(work: Working) -> None:
    batch = Batch(work)
    batch.issue(1, "ONE")
    batch.issue(2, "ONE", submitted=False)
    batch.issue(1, "TWO")
    batch.issue(3, "TWO")
    batch.issue(2, "NONE", submitted=False)
    batch.use(1, "USED")
    batch.use(1, "ONE")
    assert batch.mapping() == {
        "ONE": f"form:{FORM}",
        "TWO": "TWO",
        "NONE": "NONE",
        "USED": "USED",
    }


def test_what_a_session_was_issued_by_code_and_by_id(work: Working) -> None:
    batch = Batch(work)
    batch.issue(1, "TEN", "d1")
    batch.issue(2, "TEN")
    batch.issue(3, "", "d1")
    batch.issue(4, "", "d2")
    assert batch.issued() == [(1, "d1"), (2, "d1"), (3, "d1"), (4, "d2")]
