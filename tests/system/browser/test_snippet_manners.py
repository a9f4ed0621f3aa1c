"""The snippet as a guest in a shop's page, in a real browser: what counts as seen, what it leaves alone,
and pages that are hard on it.
"""

import json
from http.server import SimpleHTTPRequestHandler

import pytest
from playwright.sync_api import Page, Request

from tests.support import shop_site
from tests.support.seen_forms import PHONE, STAY, answer_with, await_types, ids_of, of_type, send
from tests.support.shop_site import ADDRESS, Site
from tests.support.waiting import wait_until

FORM = '<form id="newsletter"><h2>News</h2><input type="email" name="mail"><button>Send</button></form>'
STORED = "JSON.stringify([{...localStorage}, {...sessionStorage}])"


def leave(page: Page) -> None:
    page.goto("about:blank")


HIDDEN = """<div id="faint" style="opacity: 0; pointer-events: none"><form id="in-opacity">
<input type="email"></form></div>
<div style="visibility: hidden"><form id="in-visibility"><input type="email"></form></div>
<div hidden><form id="in-hidden"><input type="email"></form></div>
<iframe style="visibility: hidden" srcdoc="<form id='in-frame'><input type='email'></form>"></iframe>
<form id="short"><input type="email"></form>
<div style="height: 3000px"></div><form id="below"><input type="email"></form>
<script>const hide = () => (document.getElementById("short").hidden = true);
const wait = () => (window.formrevenue ? setTimeout(hide, 200) : setTimeout(wait, 10));
wait()</script>"""


def test_a_view_is_half_of_a_form_for_half_a_second(page: Page, site: Site) -> None:
    site.write(HIDDEN)
    page.goto(site.address)
    page.locator("#short").wait_for(state="hidden")
    page.wait_for_timeout(1_000)
    page.evaluate("document.getElementById('faint').style.opacity = 1")
    await_types(site, view=1)
    page.evaluate("document.getElementById('below').scrollIntoView()")
    await_types(site, view=2)
    assert [call["form_id"] for call in of_type(site, "view")] == ["in-opacity", "below"]


def test_a_path_of_a_page_that_stays_is_one_showing(page: Page, site: Site) -> None:
    site.write(FORM)
    page.goto(f"{site.address}/first/")
    await_types(site, view=1)
    for views, path in ((2, "/second/"), (2, "/first/"), (3, "/third/"), (3, "/first/?again")):
        page.evaluate("path => history.pushState({}, '', path)", path)
        page.wait_for_timeout(2_000)
        await_types(site, view=views)


def test_the_line_twice_and_in_a_frame_counts_once(page: Page, site: Site) -> None:
    line = f'<script src="{site.collector}/formrevenue.js" data-write-key="{site.key}"></script>'
    site.page(f"{FORM}{line}{STAY}", "frame.html")
    site.write(
        f'{line}<form id="top"><input type="email"></form><iframe src="frame.html"></iframe>{line}'
    )
    page.goto(site.address)
    await_types(site, view=2)
    send(page.frame_locator("iframe").locator("form"))
    page.frame_locator("iframe").locator("form").evaluate(
        "() => formrevenue('Form Viewed', {form_id: 'by-hand'})"
    )
    await_types(site, view=3, subscribe=1, complete=1)
    leave(page)
    await_types(site, view=3, subscribe=1, complete=1)
    assert len({call["visitor_id"] for call in site.calls()}) == 1


@pytest.mark.parametrize("policy", ["hosts", "nonce"])
def test_under_a_strict_policy(
    page: Page, site: Site, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = site.collector if policy == "hosts" else "'nonce-4711'"
    header = f"default-src 'none'; script-src {scripts}; connect-src {site.collector}"
    header += "; require-trusted-types-for 'script'"

    def end_headers(self: SimpleHTTPRequestHandler) -> None:
        self.send_header("Content-Security-Policy", header)
        SimpleHTTPRequestHandler.end_headers(self)

    monkeypatch.setattr(shop_site.QuietHandler, "end_headers", end_headers, raising=False)
    page.route("https://static.klaviyo.com/**", answer_with("klaviyo.js"))
    tool = (
        ""
        if policy == "hosts"
        else '<script nonce="4711" src="https://static.klaviyo.com/k.js"></script>'
    )
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    site.write(f"{FORM}{tool}", 'nonce="4711"')
    with page.expect_request("**/v1/b"):
        page.goto(site.address)
    await_types(site, view=1)
    page.locator("[type=email]").fill(ADDRESS)
    leave(page)
    wait_until(lambda: of_type(site, "start"), lambda: str(refused))
    assert [text for text in refused if site.collector in text] == []


HOSTILE = {
    "fetch throws": "window.fetch = () => { throw Error('ours') }",
    "fetch answers nothing": "window.fetch = () => {}",
    "fetch is refused": "window.fetch = () => Promise.reject(Error('ours'))",
    "no beacon": "navigator.sendBeacon = () => { throw Error('ours') }",
    "listeners that throw": "Document.prototype.addEventListener = window.addEventListener = () => {"
    " throw Error('x') }",
    "no storage": "for (const name of ['localStorage', 'sessionStorage'])"
    " Object.defineProperty(window, name, {get() { throw Error('x') }})",
}


OWN_HANDLER = """<output></output><script>onsubmit = (event) => {
  document.querySelector("output").textContent = "taken";
  event.preventDefault();
  throw Error("the page's");
}</script>"""


@pytest.mark.parametrize("how", HOSTILE)
def test_pages_that_replace_what_it_uses_keep_working(page: Page, site: Site, how: str) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    site.write(f"<script>{HOSTILE[how]}</script>{FORM}{OWN_HANDLER}")
    page.goto(site.address)
    page.wait_for_timeout(1_500)
    page.evaluate("formrevenue(); formrevenue('Form Viewed'); formrevenue(null, null)")
    page.evaluate("formrevenue('Form Viewed', {form_id: 'own'})")
    send(page.locator("form"))
    assert page.locator("output").text_content() == "taken"
    leave(page)
    await_types(site, view=2, subscribe=1, complete=1)
    assert errors == ["the page's"]


def test_it_changes_nothing_in_the_page_and_keeps_what_is_documented(
    page: Page, site: Site
) -> None:
    site.write(f"<script>before = document.documentElement.outerHTML</script>{FORM}{STAY}")
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    page.goto(f"{site.address}/a/path/?utm_source=google&secret=1#part")
    marks = "document.body.innerHTML"
    loaded = page.evaluate(marks)
    await_types(site, view=1)
    send(page.locator("form"))
    await_types(site, view=1, subscribe=1, complete=1)
    assert page.evaluate(marks) == loaded
    posted = [request.post_data for request in asked if request.post_data]
    calls = [call for body in posted for call in json.loads(body)["batch"]]
    assert {name for call in calls for name in call} == {
        *("event", "messageId", "anonymousId", "timestamp", "properties", "context")
    }
    assert {json.dumps(call["context"]) for call in calls} == {
        json.dumps({"campaign": {"source": "google"}, "page": {"path": "/a/path/"}})
    }
    assert {name for call in calls for name in call["properties"]} == {
        *("form_id", "form_name", "form_session_id", "field_id", "field_type", "value", "email")
    }
    local, session = json.loads(page.evaluate(STORED))
    assert (set(local), set(session)) == ({"formrevenue", "formrevenueVisit"}, set())
    assert ids_of(site) == {"News": "newsletter"}


# As scripts do that put a number together from a country and what was typed.
COPIED = f"""<form id="call"><input type="tel"><input type="hidden" name="whole">
<span data-field-type="scale"><input type="hidden" name="stars"></span><button>Send</button></form>
<script>call.elements[0].addEventListener("input", () => {{
  for (const [name, value] of [["whole", "{PHONE}"], ["stars", "4"]]) {{
    call[name].value = value;
    call[name].dispatchEvent(new Event("change", {{ bubbles: true }}));
  }}
}})</script>{STAY}"""


def test_what_scripts_copy_into_hidden_fields_stays(page: Page, site: Site) -> None:
    site.write(COPIED)
    bodies: list[str] = []
    page.on("request", lambda request: bodies.append(request.post_data or ""))
    page.goto(site.address)
    page.locator("[type=tel]").fill(PHONE)
    page.get_by_role("button").click()
    await_types(site, view=1, complete=1)
    answers = {call["field_id"]: call["value"] for call in of_type(site, "answer")}
    assert answers == {"whole": True, "stars": "4"}
    assert PHONE not in "".join(bodies)
