"""The clicks of ten made-up pages equal the figures: by collector, import, rollup and API."""

import random

from playwright.sync_api import Page

from tests.support.sent_forms import NOTHING, SENT, load
from tests.support.shop_site import Site
from tests.support.waiting import wait_until

SENDS = (
    *("submit-of-a-script", "request-submit", "enter", "click-prevented"),
    *("emptied", "beside", "box-enter"),
)
SENDS_NOTHING = ("required-select", "aria-invalid", "left")


def test_clicks_are_figures(page: Page, site: Site) -> None:
    site.page("Taken", "taken.html")
    chance = random.Random(10)
    visits = {name: chance.randint(1, 3) for name in (*SENDS, *SENDS_NOTHING)}
    turns = [name for name, times in visits.items() for _turn in range(times)]
    chance.shuffle(turns)
    for name in turns:
        html, act = (SENT | NOTHING)[name]
        site.write(f'<div data-form-name="{name}">{html.replace("ID", name)}</div>')
        load(page, f"{site.address}/{name}")
        act(page)
        page.wait_for_timeout(1_500)
        page.goto("about:blank")
    sent = sum(visits[name] for name in SENDS)
    wait_until(
        lambda: sum(call["type"] == "complete" for call in site.calls()) >= sent,
        lambda: str([(call["form_id"], call["type"]) for call in site.calls()]),
    )
    page.wait_for_timeout(1_000)
    assert site.funnels() == {
        name: (times, times, *[times if name in SENDS else 0] * 3) for name, times in visits.items()
    }
