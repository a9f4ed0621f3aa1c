"""Which discount a code belongs to (contract 4, endpoint 16)."""

import pandas as pd

from jobs.facts import discounts
from jobs.facts.changes import CodeUsage, Versions
from tests.support.fact_frames import Row, rows_of, sessions, texts
from warehouse import tables
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import NEVER

FORM = "f0000000-0000-4000-8000-000000000000"


class Batch:
    """Sessions that were issued codes, and orders that used them."""

    def __init__(self) -> None:
        self._issues: list[Row] = []
        self._codes: list[Row] = []
        self._sessions: dict[int, Row] = {}
        self._words = {FORM}

    def issue(
        self, session: int, code: str, discount_id: str = "", *, submitted: bool = True
    ) -> None:
        self._sessions[session] = {
            "session": session,
            "form": text_id(FORM),
            "submitted_at": 5 if submitted else NEVER,
        }
        self._words.add(code)
        row = {"session": session, "code": text_id(code), "discount_id": discount_id}
        self._issues.append(row)

    def use(self, order: int, code: str, discount_id: str = "") -> None:
        self._words.add(code)
        row = {"order": order, "code": text_id(code), "discount_id": discount_id}
        self._codes.append(row)

    def usage(self, stored: pd.DataFrame | None = None) -> CodeUsage:
        issues = rows_of(tables.fact_code_issued, *self._issues)
        codes = rows_of(tables.fact_order_code, *self._codes)
        holders = sessions(*self._sessions.values())
        counts = discounts.usage_counts(
            rows_of(tables.code_usage) if stored is None else stored,
            Versions(issues.iloc[:0], issues),
            Versions(holders.iloc[:0], holders),
            Versions(codes.iloc[:0], codes),
        )
        named = discounts.named_codes(issues, codes)
        return discounts.code_usage(named, counts, texts(*self._words))

    def mapping(self) -> dict[str, str]:
        usage = self.usage()
        shown = dict(zip(usage.texts["id"], usage.texts["text"], strict=True))
        words = {text_id(word): word for word in self._words}
        rows = usage.discounts
        return {
            words[code]: shown[discount]
            for code, discount in zip(rows["code"], rows["discount"], strict=True)
        }

    def issued(self) -> list[tuple[int, int]]:
        issues = rows_of(tables.fact_code_issued, *self._issues)
        rows = discounts.with_discounts(issues, self.usage().discounts)
        return sorted(zip(rows["session"].tolist(), rows["discount"].tolist(), strict=True))


def test_the_greatest_id_that_comes_with_it() -> None:
    batch = Batch()
    batch.issue(1, "TEN", "d9")
    batch.issue(2, "TEN", "d10", submitted=False)
    batch.use(1, "TEN", "d5")
    assert batch.mapping() == {"TEN": "d9"}


def test_the_form_of_the_only_submission_that_was_issued_it() -> None:
    batch = Batch()
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


def test_the_discount_of_each_issue_by_code_and_by_id() -> None:
    batch = Batch()
    batch.issue(1, "TEN", "d1")
    batch.issue(2, "TEN")
    batch.issue(3, "", "d1")
    batch.issue(4, "", "d2")
    one, two = text_id("d1"), text_id("d2")
    assert batch.issued() == [(1, one), (2, one), (3, one), (4, two)]


def test_counts_add_up_and_codes_move() -> None:
    first, second = Batch(), Batch()
    first.issue(1, "ONE")
    second.issue(2, "ONE")
    before = first.usage()
    after = second.usage(before.counts)
    assert after.counts[["mentions", "submissions"]].sum().tolist() == [2, 2]
    moved = discounts.moved_codes(before.discounts, after.discounts)
    assert moved["code"].tolist() == [text_id("ONE")]
    assert discounts.moved_codes(before.discounts, before.discounts).empty
