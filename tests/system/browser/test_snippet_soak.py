"""Hundreds of page loads in a real browser: each click is in the figures, and nothing is counted twice."""

import random
from collections import Counter

import pytest
from playwright.sync_api import Page

from tests.support.shop_site import ADDRESS, Site
from tests.support.waiting import wait_until
from tests.system.browser.conftest import NewContext

LOADS = 500
TABS = 10
FORM = """<form id="{}"><h2>{}</h2><fieldset><input type="email" name="mail"></fieldset>
<fieldset hidden><select name="size"><option>S<option>M</select></fieldset><button>Send</button></form>"""
NAMES = ("Above", "Below", "Shadow")
HTML = f"""<script>addEventListener("submit", (event) => event.preventDefault())</script>
<script async src="COLLECTOR/formrevenue.js" data-write-key="KEY"></script>
{FORM.format("above", "Above")}{FORM.format("below", "Below")}<shop-form></shop-form>
<script>customElements.define("shop-form", class extends HTMLElement {{
  connectedCallback() {{
    this.attachShadow({{mode: "open"}}).innerHTML = `{FORM.format("shadow", "Shadow")}`;
    this.shadowRoot.addEventListener("submit", (event) => event.preventDefault());
  }}
}});
for (const root of [document, document.querySelector("shop-form").shadowRoot])
  root.addEventListener("submit", ({{target}}) => {{
    for (const step of target.querySelectorAll("fieldset")) step.hidden = !step.hidden;
  }})</script>"""


def visit(page: Page, action: str, name: str) -> None:
    """The steps of a visitor with a form. A visitor who sends it leaves at once."""
    form = page.locator(f"#{name.lower()}")
    if action != "look":
        form.locator("[type=email]").fill(ADDRESS)
    if action == "send":
        form.get_by_role("button").click()
        form.locator("select").wait_for()
        form.get_by_role("button").click()


def await_views(site: Site, views: int) -> None:
    wait_until(
        lambda: sum(call["type"] == "view" for call in site.calls()) == views,
        lambda: f"{views}: {Counter(call['type'] for call in site.calls())}",
    )


@pytest.mark.deep
@pytest.mark.timeout(3_600)
def test_each_click_of_500_loads_counts_once(new_context: NewContext, site: Site) -> None:
    site.write(HTML.replace("COLLECTOR", site.collector).replace("KEY", site.key))
    chance = random.Random(500)
    tabs = [new_context().new_page() for _ in range(TABS)]
    done: Counter[tuple[str, str]] = Counter()
    for load in range(LOADS // TABS):
        for tab in tabs:
            tab.goto(f"{site.address}/{load}")
        await_views(site, 3 * TABS * (load + 1))
        for tab in tabs:
            action, name = chance.choice(("look", "start", "send")), chance.choice(NAMES)
            visit(tab, action, name)
            done[action, name] += 1
            tab.goto("about:blank")
    # The last of a page travels after it.
    tabs[0].wait_for_timeout(2_000)
    calls = site.calls()
    milestones = Counter(
        (call["form_session_id"], call["type"], call.get("step_id"))
        for call in calls
        if call["type"] != "answer"
    )
    assert set(milestones.values()) == {1}
    assert site.funnels() == {
        name: (
            LOADS,
            done["start", name] + done["send", name],
            *[done["send", name]] * 3,
        )
        for name in NAMES
    }
