"""Forms that no page marks, in a real browser: which are seen, under which ids and names, and what is
counted.

On both databases: through the collector, the import and the rollup to the answers of the API.
"""

from playwright.sync_api import Page

from tests.support.seen_forms import ALL, PHONE, STAY, await_types, ids_of, of_type, send
from tests.support.shop_site import ADDRESS, Site
from tests.support.waiting import wait_until

THREE = """<main><section><h2>Ten per cent off</h2><form id="newsletter"><input type="email" name="mail">
<button>Send</button></form></section>
<form name="waiting-list"><label>Tell me when it is back <input name="e-mail"></label>
<button>Tell me</button></form>
<aside><form><input type="tel" name="mobile"><button>Call me back</button></form></aside></main>
<script>addEventListener("submit", (event) => {
  event.preventDefault();
  event.target.replaceChildren("Thank you.");
})</script>"""


def test_three_forms_of_which_none_is_marked(page: Page, site: Site) -> None:
    site.write(THREE)
    page.goto(f"{site.address}/?utm_source=google")
    await_types(site, view=3)
    send(page.locator("#newsletter"))
    for expected in (
        {"view": 3, "subscribe": 2, "complete": 3},
        {"view": 6, "subscribe": 3, "complete": 5},
    ):
        page.get_by_label("Tell me when it is back").fill(ADDRESS)
        page.get_by_role("button", name="Tell me").click()
        page.locator("[type=tel]").fill(PHONE)
        page.get_by_role("button", name="Call me back").click()
        await_types(site, **expected)
        page.goto(site.address)
    await_types(site, view=9, subscribe=3, complete=5)
    text = str(site.calls())
    assert ADDRESS not in text
    assert PHONE not in text
    assert site.funnels() == {
        "Ten per cent off": (3, 1, 1, 1, 1),
        "Tell me when it is back": (3, 2, 2, 2, 2),
        "Call me back": (3, 2, 0, 2, 2),
    }


LATER = """<main></main><script>
const html = (name) => `<section><h3>${name}</h3><form><input type="email" name="mail">
<button>Send</button></form></section>`;
const main = document.querySelector("main");
addEventListener("load", () => setTimeout(() => {
  main.innerHTML = html("In the page") + `<dialog><form method="dialog"><h2>In a dialog</h2>
    <input type="email" name="mail"><button>Send</button></form></dialog><shop-form></shop-form>
<div id="late"></div>`;
  customElements.define("shop-form", class extends HTMLElement {
    connectedCallback() {
      this.attachShadow({mode: "open"}).innerHTML = html("In a shadow");
      this.shadowRoot.addEventListener("submit", (event) => event.preventDefault());
    }
  });
  // The page itself does not change with it.
  setTimeout(() => late.attachShadow({mode: "open"}).innerHTML = html("In a late shadow"), 1000);
  const frame = document.createElement("iframe");
  main.append(frame);
  frame.contentDocument.body.innerHTML = html("In a frame");
  frame.contentWindow.addEventListener("submit", (event) => event.preventDefault());
}, 300));
addEventListener("submit", (event) => event.preventDefault());
</script>"""


def test_five_forms_that_scripts_build_later(page: Page, site: Site) -> None:
    site.write(LATER)
    page.goto(site.address)
    await_types(site, view=4)
    open_dialog = "document.querySelector('dialog').showModal()"
    page.evaluate(open_dialog)
    send(page.locator("dialog"))
    # Opened again, it is the same showing.
    page.evaluate(open_dialog)
    page.wait_for_timeout(1_500)
    page.evaluate("document.querySelector('dialog').close()")
    send(page.locator("main > section"))
    send(page.locator("shop-form section"))
    send(page.frame_locator("iframe").locator("form"))
    await_types(site, view=5, subscribe=4, complete=4)
    ids = ids_of(site)
    assert len(set(ids.values())) == 5
    # A reload keeps them.
    page.goto(f"{site.address}/again")
    await_types(site, view=9, subscribe=4, complete=4)
    assert ids_of(site) == ids
    assert site.funnels() == {
        "In the page": (2, 1, 1, 1, 1),
        "In a dialog": ALL,
        "In a shadow": (2, 1, 1, 1, 1),
        "In a late shadow": (2, 0, 0, 0, 0),
        "In a frame": (2, 1, 1, 1, 1),
    }


BUILD = """<header id="top-HASH"><form id=":r1:" class="HASH"><h2>At the top</h2>
<input type="email" name="mail" id="f-HASH"><button>Send</button></form></header>
<main><form id="form-HASH" name="HASH"><h2>First</h2><input type="email" name="mail">
<button>Go</button></form>
<form><h2>Second</h2><input type="email" name="mail"><button>Go</button></form>
<form><h2>With a name</h2><input name="first"><input name="phone"></form>
<form id="mc-embedded-subscribe-form"><h2>Given</h2><input type="email" name="EMAIL"></form>
<div data-form="0192A000-0000-7000-8000-000000000001"><form><h2>Ours</h2><input></form></div></main>"""


def test_ids_that_a_new_build_keeps(page: Page, site: Site) -> None:
    builds = []
    for number, build in enumerate(("3f9a1c7d", "b0c4e2aa")):
        site.write(
            BUILD.replace("HASH", build).replace("<main>", "<main><div>" if number else "<main>")
        )
        page.goto(f"{site.address}/{number}")
        await_types(site, view=6 * (number + 1))
        builds.append(ids_of(site))
    assert builds[0] == builds[1]
    assert len(set(builds[0].values())) == 6
    assert builds[0]["Given"] == "mc-embedded-subscribe-form"
    assert builds[0]["Ours"].startswith("0192A000")
    assert [id for id in builds[0].values() if "3f9a1c" in id or ":" in id] == []


OTHERS = f"""<form role="search"><input type="email" name="mail"></form>
<form><input type="search" name="q"><input name="email"></form>
<form action="/account/login"><input type="email" name="mail"></form>
<form><input type="email" name="mail"><input type="password" name="secret"></form>
<form><input type="hidden" name="form_type" value="customer_login"><input type="email"></form>
<form><input type="email" name="mail"><input name="number" autocomplete="cc-number"></form>
<form><input type="email" name="mail"><input name="street" autocomplete="street-address"></form>
<form action="/cart/add"><input type="email" name="properties[Recipient]"><button>Add</button></form>
<form><input type="hidden" name="email"><textarea name="text"></textarea></form>
<form data-form="off"><input type="email" name="mail"></form>
<div data-form="off"><shop-form></shop-form></div>
<form aria-label="Counted"><input name="id"><input name="action"><input name="submit"><input name="dataset">
<input name="getAttribute"><input name="querySelectorAll"><input name="parentNode"><input name="shadowRoot">
<input name="isConnected"><input name="attributes"><input name="closest"><input name="matches">
<input name="localName">
<input name="getRootNode"><input name="name"><input name="ownerDocument"><input name="elements">
<input name="nodeType">
<input type="email" name="email"><button name="nodeName">Send</button></form>
<script>customElements.define("shop-form", class extends HTMLElement {{
  connectedCallback() {{ this.attachShadow({{mode: "open"}}).innerHTML = "<form><input type=email></form>"; }}
}})</script>{STAY}"""


def test_what_is_left_out_and_fields_that_hide_properties(page: Page, site: Site) -> None:
    site.write(OTHERS)
    page.goto(site.address)
    # The way of a keyboard: a tool that looks at such a form is confused itself.
    for number in range(7):
        focus(page, f"form:nth-of-type({number + 1}) :is([type=email],[name=email])")
        page.keyboard.type(ADDRESS)
    focus(page, "[aria-label=Counted] [type=email]")
    page.keyboard.type(ADDRESS)
    page.keyboard.press("Enter")
    await_types(site, view=1, subscribe=1, complete=1)
    page.goto("about:blank")
    assert site.funnels() == {"Counted": ALL}


def focus(page: Page, selector: str) -> None:
    page.evaluate("selector => document.querySelector(selector).focus()", selector)


STEPS = f"""<form id="quiz"><fieldset id="skin"><legend>Your skin</legend>
<input type="radio" name="skin" value="dry">
</fieldset><fieldset hidden><legend>Your name</legend><input name="called"><fieldset>
<input name="more"></fieldset></fieldset>
<fieldset hidden><legend>Result to</legend><input type="email" name="mail" required></fieldset>
<button>Next</button></form>
<form id="plain"><fieldset><input type="email" name="mail"></fieldset><fieldset><input name="called">
</fieldset></form>
<script>const [first, second, , third] = quiz.querySelectorAll("fieldset");
quiz.noValidate = true;
addEventListener("submit", () => {{
  const [shown, next] = second.hidden && third.hidden ? [first, second] : [second, third];
  if (third.hidden) [shown.hidden, next.hidden] = [true, false];
}})</script>{STAY}"""


def test_fieldsets_shown_in_turn_are_steps(page: Page, site: Site) -> None:
    site.write(STEPS)
    page.goto(site.address)
    quiz, following = page.locator("#quiz"), page.get_by_role("button", name="Next")
    await_types(site, view=2, step_view=1)
    quiz.locator("[type=radio]").check()
    following.click()
    quiz.locator("[name=called]").fill("Ada")
    following.click()
    # Nothing is sent without the address.
    following.click()
    await_types(site, view=2, step_view=3, step_complete=2)
    send(quiz)
    await_types(site, view=2, step_view=3, step_complete=3, subscribe=1, complete=1)
    steps = [
        (call["step_index"], call["step_id"], call["step_name"])
        for call in of_type(site, "step_view")
    ]
    assert steps == [(0, "skin", "Your skin"), (1, "1", "Your name"), (2, "2", "Result to")]
    assert "Ada" not in str(site.calls())
    assert {call["value"] for call in of_type(site, "answer") if call["field_id"] == "skin"} == {
        "dry"
    }


CODES = f"""<form id="before" aria-label="before" data-discount-code="WELCOME"><input type="email">
<button>Send</button></form>
<div><form id="replaced" aria-label="replaced"><input type="email"><button>Send</button></form></div>
<p data-discount-code="NEVER">Everybody's</p>
<section><form id="beside" aria-label="beside"><input type="email"><button>Send</button></form>
<p hidden data-discount-code="BESIDE">!</p></section>
<form id="never" aria-label="never" data-discount-code="OTHER"><input type="email"></form>
<script>addEventListener("submit", ({{target}}) => setTimeout(() => {{
  if (target.matches("#replaced")) target.outerHTML = "<b data-discount-code='REPLACED'>Use REPLACED</b>";
  if (target.matches("#beside")) [target.hidden, target.nextElementSibling.hidden] = [true, false];
}}, 300))</script>{STAY}"""


def test_codes_that_are_shown_are_reported(page: Page, site: Site) -> None:
    site.write(CODES)
    page.goto(site.address)
    await_types(site, view=4)
    for reported, name in enumerate(("before", "replaced", "beside"), 1):
        send(page.locator(f"#{name}"))
        await_codes(site, reported)
    page.evaluate("formrevenue('Form Subscribed', {form_id: 'own', discount_code: 'OWN'})")
    wait_until(
        lambda: "own" in codes_of(site),
        lambda: str([(call["type"], call["form_id"]) for call in site.calls()]),
    )
    assert codes_of(site) == {
        "before": {"WELCOME"},
        "replaced": {"REPLACED"},
        "beside": {"BESIDE"},
        "own": {"OWN"},
    }
    funnels = site.funnels()
    assert [funnels[name] for name in ("before", "replaced", "beside")] == [ALL, ALL, ALL]
    issued = {row["code"]: row["issued"] for row in site.get("/v1/discounts/performance")}
    assert issued == dict.fromkeys(("WELCOME", "REPLACED", "BESIDE", "OWN"), 1)


def await_codes(site: Site, forms: int) -> None:
    wait_until(lambda: len(codes_of(site)) == forms, lambda: str(codes_of(site)))


def codes_of(site: Site) -> dict[str, set[str]]:
    codes: dict[str, set[str]] = {}
    for call in site.calls():
        if "discount_code" in call:
            codes.setdefault(call["form_id"], set()).add(call["discount_code"])
    return codes
