"""The snippet in a real browser: forms are filled in, and the answers of the API equal what was clicked."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from jobs.demo.cast import FINDER, QUIZ, WELCOME
from tests.support.shop_site import ADDRESS, FORM, Call, Site, fill_in, utm_of
from tests.support.waiting import wait_until
from tests.system.browser.conftest import NewContext
from warehouse.domain.email_hash import hashed_email

DEMO_PAGE = Path(__file__).parents[3] / "jobs/demo/page/index.html"


def figures(row: Call, *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def test_what_is_clicked_on_the_demo_page_is_answered(new_context: NewContext, site: Site) -> None:
    text = DEMO_PAGE.read_text().replace("COLLECTOR", site.collector)
    (site.folder / "index.html").write_text(text.replace("WRITE_KEY", site.key))
    iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148 Safari/604.1"
    desktop = new_context().new_page()
    phone = new_context(user_agent=iphone, viewport={"width": 390, "height": 844}).new_page()
    for page, answered in ((desktop, True), (phone, False)):
        page.goto(f"{site.address}/?utm_source=google&utm_campaign=spring&email={ADDRESS}")
        subscribe(page)
        if answered:
            complete_quiz(page)
            find_gift(page)
        else:
            page.get_by_label("oily").check()
            page.get_by_role("button", name="Next").click()
            expect(page.get_by_label("redness")).to_be_visible()
            wait_until(lambda: has_seen(site, "concerns", 2))
        page.close()
    counts = {"complete": 4, "subscribe": 3, "answer": 11}
    wait_until(
        lambda: counts == {type: len(of_type(site, type)) for type in counts},
        lambda: str([call["type"] for call in site.calls()]),
    )
    taken = json.dumps(site.calls())
    assert ADDRESS not in taken
    assert "pollen" not in taken
    assert hashed_email(ADDRESS) in taken
    utm = {"source": "google", "campaign": "spring"}
    assert all(utm_of(call) == utm for call in site.calls())
    site.roll_up()

    funnels = {
        form.name: figures(
            site.get(f"/v1/forms/{form.id}/funnel"),
            *("views", "starts", "subscriptions", "completions", "submissions"),
        )
        for form in (WELCOME, QUIZ, FINDER)
    }
    assert funnels == {
        WELCOME.name: (2, 2, 2, 2, 2),
        QUIZ.name: (2, 2, 1, 1, 1),
        FINDER.name: (1, 1, 0, 1, 1),
    }
    names = ("stepIndex", "stepId", "stepName", "views", "completions", "dropoffs")
    steps = [figures(row, *names) for row in site.get(f"/v1/forms/{QUIZ.id}/steps/dropoff")]
    assert steps == [
        (0, "skin", "Your skin", 2, 2, 0),
        (1, "concerns", "What bothers you", 2, 1, 1),
        (2, "routine", "Your routine", 1, 1, 0),
        (3, "result", "Where to send the result", 1, 1, 0),
    ]
    devices = site.get(f"/v1/forms/{QUIZ.id}/devices")
    assert {figures(row, "deviceType", "views", "completions") for row in devices} == {
        ("desktop", 1, 1),
        ("mobile", 1, 0),
    }
    answers = {
        (row["fieldId"], row["value"])
        for form in (QUIZ, FINDER)
        for row in site.get(f"/v1/forms/{form.id}/response-revenue")
        if row["value"] is not None
    }
    assert answers == {
        *(("skin_type", "dry"), ("concerns", "redness"), ("concerns", "acne")),
        *(("routine_effort", "5"), ("recipient", "friend"), ("gift_wrap", "true")),
    }


def of_type(site: Site, type: str) -> list[Call]:
    return [call for call in site.calls() if call["type"] == type]


def has_seen(site: Site, step: str, times: int) -> bool:
    seen = of_type(site, "step_view")
    return sum(call["step_id"] == step for call in seen) == times


def subscribe(page: Page) -> None:
    pop_up = page.locator("#welcome")
    pop_up.get_by_label("E-mail").fill(ADDRESS)
    pop_up.get_by_role("button", name="Subscribe").click()
    expect(pop_up).to_have_text("Thank you.")


def complete_quiz(page: Page) -> None:
    quiz, following = page.locator("#quiz"), page.get_by_role("button", name="Next")
    quiz.get_by_label("dry").check()
    following.click()
    quiz.get_by_label("redness").check()
    quiz.get_by_label("acne").check()
    following.click()
    quiz.get_by_label("Effort").fill("5")
    quiz.get_by_label("Allergies").fill("pollen")
    following.click()
    quiz.get_by_label("E-mail").fill(ADDRESS)
    following.click()
    expect(quiz).to_have_text("Thank you.")


def find_gift(page: Page) -> None:
    page.get_by_role("button", name="Find a gift").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("For whom?").select_option("friend")
    dialog.get_by_label("with gift wrap").check()
    dialog.get_by_role("button", name="Show gifts").click()
    expect(dialog).to_be_hidden()


def test_without_a_visitor_nothing_is_stored(page: Page, site: Site) -> None:
    site.write(FORM, 'data-visitor="none"')
    visitors = []
    for turn in (1, 2):
        page.goto(f"{site.address}/?utm_source=google")
        calls = site.await_events(*["Viewed"] * turn)
        visitors = [call["visitor_id"] for call in calls]
        assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [
            *(0, 0, "")
        ]
    assert len(set(visitors)) == 2


def test_a_visitor_is_known_again_and_so_is_the_landing(page: Page, site: Site) -> None:
    site.write("<script>Shopify = {}</script>" + FORM)
    page.goto(f"{site.address}/?utm_source=google&utm_id=17")
    site.await_events("Viewed")
    page.goto(f"{site.address}/later")
    first, second = site.await_events("Viewed", "Viewed")
    assert first["visitor_id"] == second["visitor_id"]
    assert utm_of(first) == utm_of(second)
    assert utm_of(second) == {"source": "google", "id": "17"}
    # Once a visit.
    (posted,) = site.posted
    path, kind, body = posted.split(" ", 2)
    assert (path, kind.split(";")[0]) == ("/cart/update.js", "application/x-www-form-urlencoded")
    assert body == f"attributes%5B_visitor_id%5D={first['visitor_id']}"


@pytest.mark.parametrize(
    ("signal", "attributes", "is_heard"),
    [
        ("globalPrivacyControl", "", True),
        ("globalPrivacyControl", 'data-gpc="off"', False),
        ("doNotTrack", 'data-respect="dnt"', True),
        ("doNotTrack", "", False),
    ],
)
def test_signals_are_obeyed(
    page: Page, site: Site, signal: str, attributes: str, is_heard: bool
) -> None:
    value = "'1'" if signal == "doNotTrack" else "true"
    page.add_init_script(f"Object.defineProperty(navigator, '{signal}', {{value: {value}}})")
    site.write(FORM, attributes)
    page.goto(site.address, wait_until="load")
    page.evaluate("formrevenue('Form Viewed', {form_id: 'other'})")
    if is_heard:
        # It is too late for a view afterwards, and the page was left.
        page.wait_for_timeout(1_500)
        page.goto("about:blank")
        assert site.calls() == []
        assert page.evaluate("1") == 1
    else:
        site.await_events("Viewed", "Viewed")


SHADOW = """<shop-form></shop-form><script>
customElements.define("shop-form", class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({mode: "open"}).innerHTML = `FORM`;
    this.shadowRoot.addEventListener("submit", (event) => event.preventDefault());
  }
})</script>"""


def test_a_form_in_shadow_dom(page: Page, site: Site) -> None:
    site.write(SHADOW.replace("FORM", FORM.partition("<script>")[0]))
    page.goto(site.address)
    fill_in(page)
    site.await_events(*FILLED_IN)


FILLED_IN = (
    *("Viewed", "Started", "Subscribed", "Completed"),
    *["Question Answered"] * 3,
)


def test_a_form_that_comes_later(page: Page, site: Site) -> None:
    site.write("<main></main>")
    page.goto(site.address, wait_until="load")
    insert = "html => document.querySelector('main').innerHTML = html"
    page.evaluate(insert, SHADOW.partition("<script>")[0] + FORM.partition("<script>")[0])
    page.evaluate("addEventListener('submit', (event) => event.preventDefault())")
    site.await_events("Viewed")
    fill_in(page)
    calls = site.await_events(*FILLED_IN)
    kinds = {
        call["field_id"]: (
            call["field_type"],
            call["value"],
        )
        for call in calls
        if call["type"] == "answer"
    }
    assert kinds == {"who": ("choice", "friend"), "note": ("text", True), "mail": ("email", True)}


def test_a_single_page_shop(page: Page, site: Site) -> None:
    site.write(FORM + "<main></main>")
    page.goto(f"{site.address}/first")
    site.await_events("Viewed")
    go = "path => {history.pushState({}, '', path); document.querySelector('main').append(path)}"
    page.evaluate(go, "/second")
    site.await_events("Viewed", "Viewed")
    page.locator("select").select_option("friend")
    # Events that were not sent yet go as the page is left.
    page.goto("about:blank")
    calls = site.await_events("Viewed", "Viewed", "Started", "Question Answered")
    sessions = [call["form_session_id"] for call in calls]
    assert len(set(sessions)) == 2
    assert len(set(sessions[1:])) == 1
    assert len({call["visitor_id"] for call in calls}) == 1


def test_what_was_refused_goes_with_what_comes_next(page: Page, site: Site) -> None:
    site.write("")
    page.goto(site.address, wait_until="load")
    # Nothing can be written there.
    site.landing.mkdir()
    (site.landing / "events").touch()
    report = "name => formrevenue('Form Viewed', {form_id: name})"
    with page.expect_response(lambda response: response.status == 503):
        page.evaluate(report, "first")
    (site.landing / "events").unlink()
    # The collector does not answer at all.
    page.route("**/v1/b", lambda route: route.abort())
    with page.expect_event("requestfailed"):
        page.evaluate(report, "second")
    page.unroute("**/v1/b")
    page.evaluate(report, "third")
    calls = site.await_events("Viewed", "Viewed", "Viewed")
    assert {call["form_id"] for call in calls} == {"first", "second", "third"}


def test_what_is_refused_for_good_does_not_come_again(page: Page, site: Site) -> None:
    site.write("")
    page.goto(site.address, wait_until="load")
    report = "form => formrevenue('Form Viewed', form)"
    # One call that the collector does not take, and a batch that is refused whole.
    for size, status in ((70_000, 200), (600_000, 400)):
        with page.expect_response(lambda response: response.request.method == "POST") as posted:
            page.evaluate(report, {"form_id": "first", "value": "x" * size})
        assert posted.value.status == status
    page.evaluate(report, {"form_id": "second"})
    (call,) = site.await_events("Viewed")
    assert call["form_id"] == "second"


def test_a_form_that_it_cannot_see(page: Page, site: Site) -> None:
    site.write("")
    page.goto(site.address, wait_until="load")
    call = "formrevenue('Form Subscribed', {form_id: 'frame', email: 'ada@example.com'})"
    page.evaluate(call)
    (taken,) = site.await_events("Subscribed")
    assert (taken["form_id"], taken["email_sha256"]) == ("frame", hashed_email(ADDRESS))
    assert taken["form_session_id"]
