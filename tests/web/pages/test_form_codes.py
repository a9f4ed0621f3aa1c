"""A code that no form reports is tied to a form on the Discounts page, and told apart again."""

from typing import Any

from sqlalchemy import Engine

from tests.support.import_files import FORM, event, form, order
from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder
from tests.web.pages.conftest import Jobs

DISCOUNTS = "/discounts?range=2026-03-30..2026-03-31"
TIE = "/discounts/code?code=lamp10"
HTML = {"Accept": "text/html"}


def page_of(browser: Browser) -> str:
    page: str = browser.get(DISCOUNTS, headers=HTML).get_data(as_text=True)
    return " ".join(page.split())


def test_a_code_that_no_form_reports(
    browser: Browser, ask: Any, shop: ShopBuilder, jobs: Jobs
) -> None:
    own = {"shop_id": shop.shop_id}
    jobs.load("forms", form(name="Pop-up", **own))
    for number in range(2):
        jobs.load(
            "events",
            event(
                event_id=f"e{number}",
                form_session_id=f"s{number}",
                visitor_id=f"v{number}",
                type="subscribe",
                occurred_at=f"2026-03-30T1{number}:00:00Z",
                **own,
            ),
        )
    jobs.load(
        "orders",
        order(
            created_at="2026-03-31T10:00:00Z",
            total_cents=5_000,
            discount_codes=[{"code": "LAMP10", "amount_cents": 500}],
            **own,
        ),
    )
    jobs.rollup()

    def figures() -> tuple[list[Any], dict[str, int]]:
        days = {"range": "2026-03-30..2026-03-31"}
        rows = ask("/v1/discounts/performance", **days)
        credited = ask("/v1/attribution", **days)
        return (
            [[row["code"], row["issued"], row["orders"], row["attributedOrders"]] for row in rows],
            {row["attributionType"]: row["netRevenueCents"] for row in credited if row["orders"]},
        )

    before = [["LAMP10", 0, 1, 0]], {"unattributed": 5_000}
    assert figures() == before
    browser.signed_in()
    assert "<code>LAMP10</code></bdi> <a" in page_of(browser)
    asked = browser.get(TIE).get_data(as_text=True)
    assert f'<option value="{FORM}">Pop-up</option>' in asked
    assert browser.post(TIE, form_id=FORM).status_code == 302
    assert figures() == before
    page = page_of(browser)
    assert "LAMP10 is the code of Pop-up. The next refresh recomputes the figures." in page
    assert "<code>LAMP10</code></bdi> is the code of Pop-up." in page
    jobs.rollup()
    tied = [["LAMP10", 2, 1, 1]], {"discount_code": 5_000}
    assert figures() == tied
    # A later submission was issued it too, and one of before the order is not the last any more.
    late = event(event_id="e9", form_session_id="s9", visitor_id="v9", type="complete", **own)
    jobs.load("events", late | {"occurred_at": "2026-03-31T09:00:00Z"})
    jobs.rollup()
    assert figures() == ([["LAMP10", 3, 1, 1]], {"discount_code": 5_000})
    browser.post(TIE, form_id=FORM)
    assert "The code LAMP10 is that of a form already. Undo that first." in page_of(browser)
    browser.post("/discounts/code/undo", DISCOUNTS, code="LAMP10")
    jobs.rollup()
    assert figures() == before
    assert "is the code of Pop-up" not in page_of(browser)


def test_who_may_not_edit_forms_may_not_tie_codes(
    browser: Browser, shop: ShopBuilder, engine: Engine
) -> None:
    add_member(engine, shop, "looks@example.com", ["discounts:view"])
    browser.sign_in("looks@example.com")
    assert "is the code of a form" not in page_of(browser)
    for path in (TIE, "/discounts/code/undo"):
        assert browser.post(path, "/settings/account", code="x").status_code == 403
