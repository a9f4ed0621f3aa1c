"""Worth a look: what the overview says needs a person, and what it leaves alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.page_text import sections
from web.dashboard.ads import REASONS

TODAY = datetime.now(UTC).date()
FORM, OTHER_FORM = (f"8f0e0000-0000-4000-8000-00000000000{number}" for number in (1, 2))


def days_ago(days: int) -> str:
    return str(TODAY - timedelta(days))


def worth_a_look(shop: ShopBuilder) -> None:
    """A form that is submitted less often, a step that loses more, codes in other hands, ads without a
    campaign; and of each another one that is not worth a look."""
    for form_id, name in ((FORM, "<Quiz>"), (OTHER_FORM, "Pop-up")):
        shop.form(form_id, name=name)
        shop.step(form_id, "s1", 0, "Skin & hair")
        for ago in (2, 12):
            on = days_ago(ago)
            worse = form_id == FORM and ago == 2
            funnel = {"views": 1000, "starts": 500, "submissions": 100 if worse else 200}
            shop.daily("funnel", on, form=form_id, **funnel)
            shop.daily("all_forms", on, form=form_id, views=1000)
            shop.daily("events", on, form=form_id, events=1000)
            step = {"views": 400, "completions": 100, "dropoffs": 200 if worse else 100}
            shop.daily("step", on, form=form_id, step="s1", **step)
    issued = {
        "OPEN": (50, 80),
        "A": (1, 7),
        "B": (1, 6),
        "C": (1, 5),
        "OWN": (0, 9),
        "FINE": (9, 9),
    }
    for code, (issues, orders) in issued.items():
        shop.code(code, code)
        shop.daily("discount", days_ago(2), discount=code, issued=issues, orders=orders)
    shop.account("tiktok", "error", f"{days_ago(1)}T00:00:00")
    shop.account("google", "ok", f"{TODAY}T00:00:00")
    shop.account("meta", "ok", f"{TODAY}T00:00:00")
    for provider in ("google", "meta"):
        shop.spend(days_ago(2), provider, f"{provider}-1", "10.00")
        shop.daily(
            "utm_submission",
            days_ago(2),
            utm={"source": provider, "campaign": f"{provider}-1"},
            submissions=8 if provider == "meta" else 1,
        )
        shop.daily("utm_submission", days_ago(2), utm={"source": provider}, submissions=2)


def test_worth_a_look(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    seen, shop, engine = by_hand
    worth_a_look(shop)
    query = {"range": "7d", "compare": "previous"}
    page = seen.page("/", **query)
    assert " ".join(sections(page)["Worth a look"].others) == (
        "The ad spend of tiktok is incomplete. " + REASONS["sync_failed"] + " Ads "
        "Only 33.3% of submissions from google name a known campaign. Its return is told too low. Ads "
        "<Quiz> is submitted less often: by 10% of those who see it, before 20%. "
        "Chance alone does not explain it. "
        "<Quiz> loses more people at “ Skin & hair ”: 50% of those who see this step, before 25%. "
        "Chance alone does not explain it. "
        "OPEN is used by others: orders that used it 80, submissions that got it 50. Discounts "
        "A is used by others: orders that used it 7, submissions that got it 1. Discounts "
        "B is used by others: orders that used it 6, submissions that got it 1. Discounts "
        "Further codes that others use: 1. Discounts"
    )
    assert f'href="/forms/{FORM}?range=7d&amp;compare=previous"' in page.split("Worth a look")[1]
    # Nothing is compared: nothing has changed.
    alone = " ".join(sections(seen.page("/", range="7d", compare="none"))["Worth a look"].others)
    assert "Quiz" not in alone
    assert "OPEN" in alone
    add_member(engine, shop, "plain@example.com", [])
    plain = Browser(seen.browser.client.application.test_client())
    plain.sign_in("plain@example.com")
    text = plain.get("/", query_string=query, headers={"Accept": "text/html"}).text
    assert "tiktok" in text
    assert "OPEN" not in text


def test_nothing_worth_a_look(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    seen, shop, _ = by_hand
    shop.form(FORM)
    shop.daily("events", days_ago(1), form=FORM, events=1)
    assert "Worth a look" not in sections(seen.page("/"))
