# ruff: noqa: E501 (a page is easier to read in long lines)
"""Pages on which a form is sent, or refused, in the ways that shops' pages have: what the page holds, and what the
visitor does. `ID` stands for the form's id, GO for the press of its button."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from playwright.sync_api import Page

from tests.support.shop_site import ADDRESS, Site

Act = Callable[[Page], None]
SIZES: Final = {"desktop": (1_280, 720), "phone": (390, 844)}


def sized(new_context: Callable[..., Any], size: str) -> Page:
    width, height = SIZES[size]
    page: Page = new_context(viewport={"width": width, "height": height}).new_page()
    return page


def load(page: Page, address: str) -> None:
    """Open a page, with all that the line loads: a visitor is never as quick as a test."""
    with page.expect_request_finished(lambda request: "/sending.js" in request.url):
        page.goto(address)
    page.wait_for_timeout(100)


def counts_of(site: Site, id: str) -> dict[str, int]:
    return dict(Counter(call["type"] for call in site.calls() if call["form_id"] == id))


def press(page: Page) -> None:
    """Type an address, and press what sends it."""
    page.locator("#mail").fill(ADDRESS)
    page.locator("#go").click()


def press_and_go(page: Page) -> None:
    """Its press leads to another page, which must have come before the next is opened."""
    press(page)
    page.wait_for_url("**/taken.html*")


def enter(page: Page) -> None:
    page.locator("#mail").fill(ADDRESS)
    page.keyboard.press("Enter")


def twice(page: Page) -> None:
    press(page)
    page.wait_for_timeout(1_500)
    press(page)


def shut(page: Page) -> None:
    """Type an address, and go without sending it."""
    page.locator("#mail").fill(ADDRESS)
    page.locator("#shut").click()


def type_a_name(page: Page) -> None:
    page.locator("#mail").fill("ada")
    page.locator("#go").click()


def press_at_once(page: Page) -> None:
    """The browser, or the shop, has filled it in."""
    page.locator("#go").click()


MAIL: Final = '<input type="email" id="mail" name="mail">'
STAY: Final = "<script>addEventListener('submit', (event) => event.preventDefault())</script>"
FORM: Final = f'<form id="ID">{MAIL}<button id="go">Join</button></form>'
CALLED: Final = f'<form id="ID">{MAIL}<button type="button" id="go">Join</button></form>'
FORM_OF: Final = "const form = document.forms[0];"


def on_click(script: str, html: str = CALLED) -> str:
    return f"{html}<script>{FORM_OF}go.addEventListener('click', (event) => {{{script}}})</script>"


def on_submit(script: str, html: str = FORM) -> str:
    return f"{html}<script>{FORM_OF}form.addEventListener('submit', (event) => {{event.preventDefault();{script}}})</script>"


FETCHED: Final = "fetch('/api', {method: 'POST'}).then(() => {%s});"
POST: Final = '<form id="ID" action="/taken.html" method="get">' + MAIL

SENT: Final[dict[str, tuple[str, Act]]] = {
    "submit-of-a-script": (
        POST
        + '<a href="#" id="go" onclick="document.forms[0].submit(); return false">Join</a></form>',
        press_and_go,
    ),
    "submit-from-outside": (
        POST + '</form><button id="go" onclick="document.forms[0].submit()">Join</button>',
        press_and_go,
    ),
    "request-submit": (on_click("form.requestSubmit()") + STAY, press),
    "no-type": (FORM + STAY, press),
    "natively": (POST + '<button id="go">Join</button></form>', press_and_go),
    "enter": (f'<form id="ID">{MAIL}</form>{STAY}', enter),
    "enter-with-a-button": (FORM + STAY, enter),
    "fetched-text-of-button": (
        on_click("fetch('/api'); this.textContent = 'Thanks'; go.textContent = 'Done'"),
        press,
    ),
    "click-prevented": (
        on_click("event.preventDefault(); form.innerHTML = 'Thank you'", FORM),
        press,
    ),
    "replaced": (on_click(FETCHED % "form.replaceWith('Welcome')"), press),
    "replaced-with-parent": (
        f"<div id='around'>{on_click(FETCHED % 'around.innerHTML = 1')}</div>",
        press,
    ),
    "hidden-by-class": (
        "<style>.sent form {display: none}</style>"
        + on_click(FETCHED % "document.body.className = 'sent'"),
        press,
    ),
    "faded": (on_click(FETCHED % "form.style.opacity = 0"), press),
    "emptied": (
        on_click(FETCHED % "form.reset()", CALLED.replace("type=", "required type=", 1)),
        press,
    ),
    "emptied-after-submit": (
        on_submit(FETCHED % "form.reset()", FORM.replace("type=", "required type=", 1)),
        press,
    ),
    "beside": (on_click("said.textContent = 'Thank you!'") + "<p id='said'></p>", press),
    "beside-unhidden": (
        on_click("said.hidden = false") + "<p id='said' hidden>Danke</p>",
        press,
    ),
    "beside-fetched": (
        on_click(FETCHED % "said.textContent = 'Kiitos'") + "<p id='said'></p>",
        press,
    ),
    "redirect": (on_click("setTimeout(() => (location.href = '/taken.html'), 300)"), press_and_go),
    "path": (on_click(FETCHED % "form.remove(); history.pushState({}, '', '/taken.html')"), press),
    "dialog": (
        f"<dialog id='box'>{on_click(FETCHED % 'box.close()')}</dialog><script>box.showModal()</script>",
        press,
    ),
    "dialog-method": (
        f'<dialog id="box"><form id="ID" method="dialog">{MAIL}<button id="go">Join</button></form></dialog>'
        "<script>box.showModal()</script>",
        press,
    ),
    "names-that-hide": (
        f'<form id="ID"><input name="submit"><input name="elements"><input name="innerText">{MAIL}'
        f'<input name="children"><button id="go" name="isConnected">Join</button></form>{STAY}',
        press,
    ),
    "field-elsewhere": (
        f'<form id="ID"><button id="go">Join</button></form><p>{MAIL.replace("id=", "form=ID id=")}</p>{STAY}',
        press,
    ),
    "button-elsewhere": (
        f'<form id="ID">{MAIL}</form><button form="ID" id="go">Join</button>{STAY}',
        press,
    ),
    "button-beside": (
        f'<div><form id="ID">{MAIL}</form><button id="go">Join</button></div><script>{FORM_OF}'
        "go.onclick = () => form.replaceWith('Merci')</script>",
        press,
    ),
    "corrected": (
        on_submit(
            "form.turn = (form.turn || 0) + 1;mail.setAttribute('aria-invalid', form.turn == 1);"
        ),
        twice,
    ),
    "corrected-validity": (
        on_submit(
            "form.turn = (form.turn || 0) + 1;"
            "mail.setCustomValidity(form.turn == 1 ? 'Once more' : '');",
            FORM.replace(" id=", " novalidate id=", 1),
        ),
        twice,
    ),
    "written-by-a-framework": (
        # As a controlled field: its value is put back at each input, and the form is made anew when it is sent.
        f"<div id='app'></div><script>let value = ''; function render(sent) {{"
        f"app.innerHTML = sent ? '<p>Sent</p>' : `{FORM}`; if (sent) return;"
        "mail.oninput = () => { value = mail.value; mail.value = value; };"
        "app.firstChild.onsubmit = (event) => { event.preventDefault(); setTimeout(() => render(true), 400); }; }"
        "render()</script>",
        press,
    ),
    "box": (
        f'<section id="ID"><h2>News</h2>{MAIL}<button id="go">Join</button></section>'
        "<script>go.onclick = () => (document.querySelector('section').textContent = 'Thanks')</script>",
        press,
    ),
    "box-fixed": (
        f'<div id="ID" style="position: fixed; inset: 20px">{MAIL}<a id="go" href="#">Join</a></div>'
        "<script>go.onclick = () => fetch('/api').then(() => document.body.lastElementChild.remove()) && false</script>"
        "<script>go.addEventListener('click', () => setTimeout(() => go.parentNode.hidden = true, 300))</script>",
        press,
    ),
    "box-enter": (
        f'<aside id="ID">{MAIL}</aside><script>mail.onkeydown = ({{key}}) => {{'
        "if (key == 'Enter') mail.value = ''; }</script>",
        enter,
    ),
    "filled-in-before": (FORM.replace(" name=", f' value="{ADDRESS}" name=') + STAY, press_at_once),
}

# Each of them sent nothing, and no address leaves it.
NOTHING: Final[dict[str, tuple[str, Act]]] = {
    **{
        f"required-{name}": (
            on_submit(
                "", f'<form id="ID" novalidate>{MAIL}{field}<button id="go">Go</button></form>'
            ),
            press,
        )
        for name, field in {
            "select": '<select name="size" required><option value="">-<option>S</select>',
            "text": '<textarea name="text" required></textarea>',
            "input": '<input name="first" required>',
            "check": '<input type="checkbox" name="ok" required>',
            "radio": '<label><input type="radio" name="r" value="1" required> one</label>'
            '<label><input type="radio" name="r" value="2"> two</label>',
            "styled": '<label><input type="checkbox" name="ok" required style="opacity: 0">I agree</label>',
            "pattern": '<input name="zip" value="x" pattern="[0-9]+">',
        }.items()
    },
    "required-elsewhere": (
        on_submit("", f'<form id="ID" novalidate>{MAIL}<button id="go">Go</button></form>')
        + '<input name="first" form="ID" required>',
        press,
    ),
    "aria-invalid": (on_submit("mail.setAttribute('aria-invalid', 'true')"), press),
    "aria-invalid-later": (
        on_submit("setTimeout(() => mail.setAttribute('aria-invalid', 'true'), 400)"),
        press,
    ),
    "custom-validity": (on_submit("mail.setCustomValidity('Not this one')"), press),
    "said-beside": (
        on_submit("said.textContent = 'Please accept the terms.'") + "<p id='said'></p>",
        press,
    ),
    "said-after-fetch": (
        on_click(FETCHED % "said.textContent = 'Something went wrong: error 500'")
        + "<p id='said'></p>",
        press,
    ),
    "empty": (
        on_submit("said.textContent = 'Type something'") + "<p id='said'></p>",
        press_at_once,
    ),
    "no-address": (
        on_click("form.hidden = true", CALLED.replace('type="email"', 'type="text"')),
        type_a_name,
    ),
    **{
        f"closed-by-{name}": (
            f"<div id='box'>{FORM}{button}</div><script>shut.onclick = () => box.remove()</script>{STAY}",
            shut,
        )
        for name, button in {
            "cross": '<button id="shut" aria-label="Close">×</button>',
            "words": '<button type="button" id="shut">No, thanks</button>',
        }.items()
    },
    "closed-inside": (
        f'<form id="ID">{MAIL}<button id="go">Join</button><button type="button" id="shut">Maybe tomorrow</button></form>'
        "<script>shut.onclick = () => document.forms[0].remove()</script>",
        shut,
    ),
    "link": (
        f'<form id="ID">{MAIL}<a id="go" href="/terms.html">Terms</a><button>Join</button></form>',
        press,
    ),
    "link-with-data-read": (
        f'<form id="ID">{MAIL}<button>Join</button></form><a id="go" href="/terms.html">Terms</a>'
        f"<script>{FORM_OF}mail.oninput = onbeforeunload = () => void new FormData(form)</script>",
        press,
    ),
    "list-opened": (
        f'<form id="ID">{MAIL}<button type="button" id="go" aria-expanded="false">+49</button><p id="list"></p></form>'
        "<script>go.onclick = () => (list.textContent = 'Austria, Belgium')</script>",
        press,
    ),
    "back": (
        f'<form id="ID"><div id="one">{MAIL}<button type="button" id="go">Back</button></div>'
        '<div id="two" hidden>Which size? <select name="size"><option>S</select></div></form>'
        "<script>go.onclick = () => { one.hidden = true; two.hidden = false }</script>",
        press,
    ),
    "left": (FORM + STAY, lambda page: page.locator("#mail").fill(ADDRESS)),
}
