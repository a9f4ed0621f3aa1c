# ruff: noqa: E501 (a page is easier to read in long lines)
"""Pages as public bug reports describe them, in a real browser: what is seen, under which id, and after which landing; and
pages on which the line begins in another way, or cannot."""

from collections import Counter

import pytest
from playwright.sync_api import Page, Route

from tests.support.seen_forms import STAY, await_types, ids_of, of_type, send
from tests.support.sent_forms import SIZES, counts_of, sized
from tests.support.shop_site import ADDRESS, Site, utm_of
from tests.support.waiting import wait_until
from tests.system.browser.conftest import NewContext
from warehouse.connections.engine import open_engine
from warehouse.domain.email_hash import hashed_email
from warehouse.forms.form_sightings import findings

MAIL = '<input type="email" name="mail">'
TALL = "".join(
    f'<p style="height: 300px">{n}<select name="q{n}"><option>a<option>b</select></p>'
    for n in range(12)
)
# Newer than Safari 15 or Chrome 90, the oldest that the README names.
NEWER = """
for (const [type, ...names] of [
  [Element, "checkVisibility", "setHTMLUnsafe", "moveBefore", "ariaNotify", "currentCSSZoom"],
  [Array, "at", "findLast", "findLastIndex", "toSorted", "toSpliced", "toReversed", "with"],
  [String, "at", "isWellFormed", "toWellFormed"],
  [HTMLElement, "popover", "showPopover", "togglePopover", "attachInternals", "inert", "autofocus"],
  [SubmitEvent, "submitter"],
  [Set, "union", "intersection", "difference"],
  [Response, "bytes"],
  [PerformanceResourceTiming, "responseStatus"],
]) for (const name of names) delete type.prototype[name];
for (const [owner, ...names] of [
  [window, "structuredClone", "navigation", "scheduler", "cookieStore", "reportError", "requestIdleCallback",
    "CloseWatcher", "Sanitizer", "fetchLater", "CSSStyleSheet"],
  [Object, "hasOwn", "groupBy"], [Array, "fromAsync"], [Promise, "withResolvers", "try"],
  [crypto, "randomUUID"], [Crypto.prototype, "randomUUID"], [AbortSignal, "timeout", "any"],
  [Navigator.prototype, "userActivation", "userAgentData"], [URL, "canParse", "parse"], [Map, "groupBy"],
]) for (const name of names) delete owner[name];
"""


def test_in_the_oldest_browsers_that_are_named(page: Page, site: Site) -> None:
    page.add_init_script(NEWER)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    site.write(
        f'<form id="seen">{MAIL}</form><div style="opacity: 0"><form id="faint">{MAIL}</form></div><form id="steps">'
        '<fieldset id="a"><select name="s"><option>x<option>y</select><button type="button" id="next">Next</button>'
        f'</fieldset><fieldset id="b" hidden>{MAIL}<button>Go</button></fieldset></form>{STAY}'
        "<script>next.onclick = () => [a.hidden, b.hidden] = [true, false]</script>"
    )
    page.goto(site.address)
    await_types(site, view=2, step_view=1)
    page.select_option("[name=s]", "y")
    page.click("#next")
    send(page.locator("#b"))
    await_types(site, view=2, step_view=2, step_complete=2, subscribe=1, complete=1)
    assert len(of_type(site, "answer")) == 2
    assert errors == []


@pytest.mark.parametrize("size", SIZES)
def test_half_of_the_screen_is_seen(new_context: NewContext, site: Site, size: str) -> None:
    page = sized(new_context, size)
    site.write(
        f'<meta name="viewport" content="width=device-width"><form id="tall"><fieldset id="one"><p style="height: 300px">'
        '<button type="button" id="next">Next</button></p></fieldset>'
        f'<fieldset id="two" hidden>{TALL}{MAIL}<button id="go">Go</button></fieldset></form>{STAY}'
        "<script>next.onclick = () => [one.hidden, two.hidden] = [true, false]</script>"
    )
    page.goto(site.address)
    await_types(site, view=1, step_view=1)
    page.click("#next")
    await_types(site, view=1, step_view=2, step_complete=1)
    send(page.locator("#two"))
    await_types(site, view=1, step_view=2, step_complete=2, subscribe=1, complete=1)


def test_a_step_that_was_completed_was_seen(page: Page, site: Site) -> None:
    """Quicker than half a second."""
    site.write(
        f'<form id="quick"><div data-step="a"><button type="button" id="next">Next</button></div><div data-step="b"'
        f" hidden>{MAIL}<button>Go</button></div></form>{STAY}"
        "<script>next.onclick = ({target}) => [target.parentNode.hidden, target.parentNode.nextSibling.hidden] ="
        " [true, false]</script>"
    )
    with page.expect_request_finished(lambda request: "/sending.js" in request.url):
        page.goto(site.address)
    page.click("#next")
    send(page.locator("form"))
    page.goto("about:blank")
    wait_until(lambda: of_type(site, "complete"), lambda: str(site.calls()))
    steps = Counter((call["type"], call["step_id"]) for call in site.calls() if "step_id" in call)
    assert set(steps.values()) == {1}
    assert {step for type, step in steps if type == "step_complete"} <= {
        step for type, step in steps if type == "step_view"
    }


SCRIPTS_WRITE = f"""<div style="display: none"><form id="hidden"><select name="country"><option>DE<option>FR</select>{MAIL}
</form></div><form id="shown">{MAIL}<input type="hidden" name="source"></form><div style="height: 3000px"></div>
<footer><form id="below">{MAIL}</form></footer>
<script>setTimeout(() => {{
  for (const [field, value] of [[hidden.country, "FR"], [hidden.mail, "{ADDRESS}"], [shown.mail, ""],
    [shown.source, "x"], [below.mail, "{ADDRESS}"]]) {{
    field.value = value;
    for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, {{bubbles: true}}));
  }}
}}, 1200)</script>"""


def test_scripts_start_nothing(page: Page, site: Site) -> None:
    site.write(SCRIPTS_WRITE)
    page.goto(site.address)
    page.wait_for_timeout(2_500)
    page.goto("about:blank")
    await_types(site, view=1)
    assert [(call["type"], call["form_id"]) for call in site.calls()] == [("view", "shown")]


TWO = f"""<section><h2>Write to us</h2><form id="contact_form">{MAIL}<textarea name="body"></textarea><button>Send
</button></form></section><section><h2>Ask</h2><form name="twice">{MAIL}<button>Ask</button></form>
<h2>Wait</h2><form name="twice"><input type="tel" name="phone"><button>Wait</button></form></section>"""
FOOTER = f"""<footer><h2>Newsletter</h2><form id="contact_form">{MAIL}<button>Subscribe</button></form></footer>{STAY}"""


def test_two_forms_with_one_id_are_two_on_all_pages(page: Page, site: Site) -> None:
    site.write(FOOTER)
    page.goto(site.address)
    await_types(site, view=1)
    alone = ids_of(site)["Newsletter"]
    site.write(TWO + FOOTER)
    page.goto(f"{site.address}/contact")
    await_types(site, view=5)
    assert len(set(ids_of(site).values())) == 4
    assert ids_of(site)["Newsletter"] == alone
    send(page.locator("footer"))
    await_types(site, view=5, subscribe=1, complete=1)
    assert of_type(site, "complete")[0]["form_id"] == alone


TWINS = f"""<main><div class="c"><h2>News</h2><form>{MAIL}<button>Go</button></form></div></main>
<ul><li><form id="slide" aria-label="Slide">{MAIL}</form></li></ul>
<aside id="wide"><form name="copy" aria-label="Copy">{MAIL}</form></aside>
<nav id="narrow" hidden><form name="copy" aria-label="Copy">{MAIL}</form></nav>{STAY}
<script>const clone = document.querySelector("li").cloneNode(true);
clone.firstChild.removeAttribute("id");
document.querySelector("ul").prepend(clone);
window.go = (path) => {{
  history.pushState({{}}, "", path);
  const old = document.querySelector(".c");
  old.parentNode.append(old.cloneNode(true));
  setTimeout(() => old.remove(), 600);
  [wide.hidden, narrow.hidden] = [!wide.hidden, !narrow.hidden];
}}</script>"""


def test_a_twin_is_the_same_form(page: Page, site: Site) -> None:
    site.write(TWINS)
    page.goto(site.address)
    await_types(site, view=3)
    for views, path in ((6, "/a"), (9, "/b")):
        page.evaluate("path => go(path)", path)
        await_types(site, view=views)
    assert sorted(Counter(call["form_id"] for call in site.calls()).values()) == [3, 3, 3]


WRITTEN = f"""<iframe id="frame" style="width: 400px; height: 200px"></iframe><div id="late"></div><script>
const form = (id) => `<form id="${{id}}">{MAIL}<button>Go</button></form>`;
const write = () => {{
  const page = frame.contentDocument;
  page.open();
  page.write(form("written") + "<script>onsubmit = (event) => event.preventDefault()</" + "script>");
  page.close();
}};
write();
setTimeout(write, 1500);
setTimeout(() => {{
  late.attachShadow({{mode: "open"}}).innerHTML = form("shadow");
  late.shadowRoot.addEventListener("submit", (event) => event.preventDefault());
}}, 1000)</script>"""


def test_what_is_written_anew_is_heard_once(page: Page, site: Site) -> None:
    site.write(WRITTEN)
    page.goto(site.address)
    await_types(site, view=2)
    page.wait_for_timeout(2_500)
    send(page.frame_locator("iframe").locator("form"))
    send(page.locator("#late form"))
    await_types(site, view=2, subscribe=2, complete=2)
    once = dict.fromkeys(("view", "start", "answer", "subscribe", "complete"), 1)
    assert (counts_of(site, "written"), counts_of(site, "shadow")) == (once, once)


def test_the_document_itself_is_written_anew(page: Page, site: Site) -> None:
    site.write(f'<form id="first">{MAIL}</form>')
    page.goto(site.address)
    await_types(site, view=1)
    page.evaluate(
        "html => { document.open(); document.write(html); document.close() }",
        f'<form id="second">{MAIL}<button>Go</button></form>{STAY}',
    )
    await_types(site, view=2)
    send(page.locator("form"))
    await_types(site, view=2, subscribe=1, complete=1)


LANDINGS = {
    "?utm_source=google&utm_source=bing&utm_campaign=spring": {
        "source": "google",
        "campaign": "spring",
    },
    "?page=2": {"source": "google", "campaign": "spring"},
    "?utm_nooverride=1&utm_source=paypal": {"source": "google", "campaign": "spring"},
    "?q=what+is+utm_source": {"source": "google", "campaign": "spring"},
    "?return_to=%2Fcart%3Futm_source%3Dmail&utm_source=": {
        "source": "google",
        "campaign": "spring",
    },
    "?gclid=1": {"source": "google", "medium": "cpc"},
    "?fbclid=1": {"source": "facebook", "medium": "social"},
    "?ttclid=1": {"source": "tiktok", "medium": "paid"},
    "?msclkid=1&utm_medium=ppc": {"source": "bing", "medium": "ppc"},
    "?gclid=1&utm_source=newsletter": {"source": "newsletter"},
}


def test_the_landing_is_the_visitors(new_context: NewContext, site: Site) -> None:
    site.write(f'<form id="here">{MAIL}</form>')
    context = new_context()
    for views, (query, utm) in enumerate(LANDINGS.items(), 1):
        # Each in a tab of its own.
        page = context.new_page()
        page.goto(f"{site.address}/{query}")
        await_types(site, view=views)
        assert utm_of(site.calls()[-1]) == utm, query
        page.close()
    page = context.new_page()
    page.add_init_script(
        "const stored = JSON.parse(localStorage.formrevenueVisit || '{}');"
        "localStorage.formrevenueVisit = JSON.stringify({...stored, at: Date.now() - 31 * 60000})"
    )
    page.goto(f"{site.address}/later")
    await_types(site, view=len(LANDINGS) + 1)
    assert utm_of(site.calls()[-1]) == {}


LINES = {
    "query": '<script async src="{line}?key={key}"></script>',
    "module": '<script type="module" src="{line}" data-write-key="{key}"></script>',
    "imported": '<script type="module">import("{line}?key={key}")</script>',
    "evaluated": '<script>formrevenueKey = "{key}"; fetch("{line}").then((answer) => answer.text()).then(eval)</script>',
    "window": '<script>formrevenueKey = "{key}"</script><script async src="{line}"></script>',
    "inserted": '<script>const s = document.createElement("script"); s.src = "{line}?key={key}"; '
    "document.head.append(s); s.remove()</script>",
}


def test_the_key_comes_by_several_ways(page: Page, site: Site) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    for way, line in LINES.items():
        source = line.replace("{line}", f"{site.collector}/formrevenue.js").replace(
            "{key}", site.key
        )
        site.page(
            f'<!doctype html><form id="{way}">{MAIL}<button>Go</button></form>{STAY}{source}',
            "way.html",
        )
        page.goto(f"{site.address}/way.html")
        wait_until(
            lambda: len(of_type(site, "view")) > len(of_type(site, "complete")),
            lambda: str(site.calls()),
        )
        send(page.locator("form"))
        page.goto("about:blank")
    wait_until(lambda: len(of_type(site, "complete")) == len(LINES), lambda: str(site.calls()))
    assert errors == []


CLOSED = """<shop-popup style="display: block; width: 300px; height: 100px"></shop-popup>
<iframe src="http://localhost:PORT/other.html" width="300" height="200"></iframe>
<script>customElements.define("shop-popup", class extends HTMLElement {
  connectedCallback() { this.attachShadow({mode: "closed"}).innerHTML = "<form><input type=email></form>"; }
})</script>"""


def test_what_cannot_be_counted_is_told(page: Page, site: Site) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    port = site.address.rpartition(":")[2]
    site.page("<form><input type=email></form>", "other.html")
    site.write(CLOSED.replace("PORT", port))
    page.goto(f"{site.address}/shop")
    bare = (
        f'<!doctype html><form>{MAIL}</form><script src="{site.collector}/formrevenue.js"></script>'
    )
    page.wait_for_timeout(2_500)
    site.page(bare, "bare.html")
    page.goto(f"{site.address}/bare.html")
    engine = open_engine(site.product.url)

    def told() -> dict[str, tuple[str, str]]:
        page.wait_for_timeout(50)
        with engine.connect() as connection:
            return {kind: seen[:2] for kind, seen in findings(connection, 1).items()}

    wait_until(lambda: len(told()) == 3, lambda: str((told(), said)))
    assert told() == {
        "no_key": ("", "/bare.html"),
        "foreign_frame": (f"localhost:{port}", "/shop"),
        "closed_shadow_root": ("shop-popup", "/shop"),
    }
    engine.dispose()
    assert [text for text in said if "write key" in text]
    assert site.calls() == []


CLOBBERS = """<img name="currentScript" src="//evil.example/x.js"><a id="formrevenue"></a><a id="formrevenue"
name="consent" href="//evil.example"></a><a id="formrevenueKey" href="//evil.example">.</a><a id="Shopify"></a>
<a id="Shopify" name="customerPrivacy"></a><form id="f" name="querySelectorAll"></form>""" + "".join(
    f'<img name="{name}" src="data:,">'
    for name in (
        "querySelectorAll",
        "hidden",
        "cookie",
        "addEventListener",
        "defaultView",
        "readyState",
        "nodeType",
        "host",
        "parentNode",
        "localName",
        "location2",
    )
)


def test_no_markup_takes_the_line_over(page: Page, site: Site) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    site.write(f'{CLOBBERS}<form id="own">{MAIL}<button>Go</button></form>{STAY}')
    page.goto(site.address)
    await_types(site, view=1)
    # The way of a keyboard: a tool that looks at such a page is confused itself.
    page.evaluate("document.getElementById('own').firstChild.focus()")
    page.keyboard.type(ADDRESS)
    page.keyboard.press("Enter")
    await_types(site, view=1, subscribe=1, complete=1)
    hosts = (site.address, site.collector, "data:", "http://evil.example/x.js")
    assert [url for url in asked if not url.startswith(hosts)] == []


PRIVACY = f"""<script>const allowed = () => !!localStorage.agreed;
const api = {{analyticsProcessingAllowed: allowed}};
Shopify = {{loadFeatures: (features, done) => setTimeout(() => {{ Shopify.customerPrivacy = api; done(); }}, 300)}};
window.agree = () => {{
  localStorage.agreed = 1;
  document.dispatchEvent(new CustomEvent("visitorConsentCollected"));
}}</script><form id="private">{MAIL}<button>Go</button></form>{STAY}"""


def test_shopifys_privacy_api_is_obeyed(page: Page, site: Site) -> None:
    site.write(PRIVACY)
    page.goto(f"{site.address}/?utm_source=google")
    page.locator("[type=email]").fill("grace@example.com")
    page.wait_for_timeout(2_500)
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [
        0,
        0,
        "",
    ]
    assert (site.calls(), site.posted) == ([], [])
    page.evaluate("agree()")
    await_types(site, view=1)
    page.goto(f"{site.address}/next")
    await_types(site, view=2)
    send(page.locator("form"))
    await_types(site, view=2, subscribe=1, complete=1)
    page.evaluate(
        "delete localStorage.agreed; document.dispatchEvent(new CustomEvent('visitorConsentCollected'))"
    )
    assert page.evaluate("Object.keys(localStorage)") == []


def test_the_cart_attribute_is_set_until_it_is_taken_and_for_each_cart(
    page: Page, site: Site
) -> None:
    posted: list[str] = []

    def answer(route: Route) -> None:
        posted.append(route.request.url)
        route.fulfill(status=429 if len(posted) == 1 else 200)

    page.route("**/cart/update.js", answer)
    site.write("<script>Shopify = {routes: {root: '/de/'}}</script>")
    found = []
    for cookie in ("", "", "", "cart=second", ""):
        page.goto(site.address)
        page.evaluate("cookie => cookie && (document.cookie = cookie)", cookie)
        # It looks for another cart every two seconds.
        page.wait_for_timeout(2_800)
        found.append(len(posted))
    # Refused, taken, nothing to do, another cart, nothing to do.
    assert found == [1, 2, 2, 3, 3]
    assert set(posted) == {f"{site.address}/de/cart/update.js"}


FRIENDS = {
    "grace": '<h2>Tell a friend</h2><label>Friend\'s e-mail <input type="email" name="a" value="friend@example.com"></label>'
    '<label>Your e-mail <input type="email" name="b" value="grace@example.com"></label>',
    "order": '<p>You</p><input type="email" name="a" value="order@example.com"><p>Your friend</p>'
    '<input type="email" name="b" value="friend@example.com">',
    "complete": '<input type="email" name="to_friend" value="friend@example.com"><input type="email" name="x"'
    ' autocomplete="email" value="complete@example.com">',
    "twice": '<input type="email" name="a" value="twice@example.com"><input type="email" name="b"'
    ' value="twice@example.com">',
    "none": '<input type="email" name="a" value="one@example.com"><input type="email" name="b" value="two@example.com">',
    "gift": '<input type="email" name="recipient_email" value="friend@example.com">',
}


def test_whose_address_it_is(page: Page, site: Site) -> None:
    for name, fields in FRIENDS.items():
        site.write(f'<form id="{name}">{fields}<button>Go</button></form>{STAY}')
        with page.expect_request_finished(lambda request: "/sending.js" in request.url):
            page.goto(f"{site.address}/{name}")
        page.wait_for_timeout(200)
        page.get_by_role("button").click()
        page.goto("about:blank")
    wait_until(lambda: len(of_type(site, "complete")) == len(FRIENDS), lambda: str(site.calls()))
    sent = {call["form_id"]: call["email_sha256"] for call in of_type(site, "subscribe")}
    own = FRIENDS.keys() - {"none", "gift"}
    assert sent == {name: hashed_email(f"{name}@example.com") for name in own}
