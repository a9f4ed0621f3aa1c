"""The rendering of pages: their headers, the error page, and the helpers that templates use."""

import re
from datetime import date, datetime
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from flask import (
    Flask,
    Response,
    flash,
    make_response,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from flask_wtf import FlaskForm
from markupsafe import Markup

from warehouse import command
from warehouse.domain.time import from_micros, iso_millis, to_micros
from web.auth import audit
from web.auth.api_keys import last_day
from web.auth.permissions import (
    PERMISSION_DESCRIPTIONS,
    PERMISSION_NAMES,
    SCOPE_DESCRIPTIONS,
)
from web.http.current_request import is_static_file, request_id
from web.http.errors import SETTINGS, Refusal, is_page
from web.pages import language
from web.pages.session_cookie import TOKEN

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Frame-Options": "DENY",
    # `no-referrer` would fail the CSRF check, which behind HTTPS reads the referrer of a form.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}

_ERROR_TITLES: Final = {
    403: "Not allowed",
    404: "Not found",
    405: "Not found",
    409: "Not now",
    413: "This is too large",
    500: "Something went wrong",
    429: "Too many requests",
    503: "Not available right now",
}

# Errors that go away by themselves.
_PASSING: Final = (429, 503)
# Seconds after which a page that the service cannot show is asked for again.
_RETRY_SECONDS: Final = 5


def register(app: Flask) -> None:
    for template_filter in (time_element, end_element, moment_element):
        app.add_template_filter(template_filter)
    app.add_template_filter(audit.title, "event_title")
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.globals.update(
        command=command,
        scope_descriptions=SCOPE_DESCRIPTIONS,
        permission_names=PERMISSION_NAMES,
        permission_descriptions=PERMISSION_DESCRIPTIONS,
        mark_current=mark_current,
    )


def add_headers(response: Response) -> Response:
    for name, value in HEADERS.items():
        # Browsers may keep static files, and ask whether they have changed.
        if name != "Cache-Control" or not is_static_file():
            response.headers[name] = value
    return response


def error_page(refusal: Refusal) -> Response:
    """The page of an error. It shows the refusal's message and a way on, and reads nothing from the
    warehouse, which may be down. Where that is the reason, the browser asks for the page again after a
    while; never for a form, which would be sent twice."""
    can_repeat = request.method == "GET" and refusal.status in _PASSING
    retries = can_repeat and refusal.status == 503
    body = render_template(
        "error.html",
        title=_ERROR_TITLES.get(refusal.status, "That did not work"),
        message=refusal.message,
        can_repeat=can_repeat,
        retry_seconds=_RETRY_SECONDS if retries else None,
        # The cookie says so without the warehouse.
        is_signed_in=TOKEN in session,
        request_id=request_id(),
    )
    headers = {"Refresh": str(_RETRY_SECONDS)} if retries else {}
    return add_headers(make_response(body, refusal.status, {**refusal.headers, **headers}))


def form_page(template: str, form: FlaskForm, **values: Any) -> tuple[str, int]:
    """A page with a form: 200 where it is shown first, 422 where what was sent is refused."""
    return render_template(template, form=form, **values), 422 if form.is_submitted() else 200


def redirect_with(message: str, page: str, kind: str = "message", code: int = 302) -> Any:
    """Redirect to a page, and show a message there: of the kind `message`, `note` or `problem`. `page` is the
    name of its address, perhaps with a place on it (`setup.show#forms`)."""
    flash(message, kind)
    name, _, place = page.partition("#")
    return redirect(url_for(name, _anchor=place or None), code)


def time_element(instant: int) -> Markup:
    """An instant in UTC, in the language of the browser; an attribute of the element has it exactly."""
    return _element(instant, language.utc_instant(from_micros(instant)))


def end_element(expires_at: int) -> Markup:
    """The end of a key: an instant, or the end of a day in UTC."""
    if not last_day(expires_at):
        return time_element(expires_at)
    return _element(expires_at, f"{language.day(from_micros(expires_at - 1))}, end of the day UTC")


def moment_element(moment: date) -> Markup:
    """A day, or an instant as `time_element` has it."""
    if isinstance(moment, datetime):
        return time_element(to_micros(moment))
    element = Markup('<time datetime="{}">{}</time>')
    return element.format(moment.isoformat(), language.day(moment))


def mark_current(section: str) -> Markup:
    """The attribute that marks the navigation link of the section that is shown, or that has the page."""
    is_shown = section in (request.blueprint, request.endpoint)
    if not is_shown and "." in section:
        is_shown = request.path.startswith(f"{url_for(section)}/")
    return Markup('aria-current="page"' if is_shown else "")


def _element(instant: int, text: str) -> Markup:
    return Markup('<time datetime="{}">{}</time>').format(iso_millis(instant), text)


# Nothing here can be read as an address of another site. The query may be any (RFC 3986, 3.4).
_OWN_PAGE: Final = re.compile(r"(/|(/[A-Za-z0-9_-]+)+)(\?[A-Za-z0-9._~!$&'()*+,;=:@/?%-]*)?")

# The parameters that mean the same in every shop.
_DAYS: Final = ("range", "compare", "from", "to")
_SETTINGS_PAGES: Final = ("connections", "members", "activity", "account")


def is_own_page(address: str) -> bool:
    """Whether a browser can be sent to an address (a path, with or without a query)."""
    return bool(_OWN_PAGE.fullmatch(address))


def own_page_or(page: str) -> str:
    """The page that the address of the request at hand names as the next one (`next`), or this page."""
    stated = request.args.get("next", "")
    return stated if is_own_page(stated) else page


def same_view(address: str) -> str:
    """The address of the same page for another shop. Keeps the page and the days. A form or a key becomes the
    list it is in."""
    path, _, query = address.partition("?")
    if not is_own_page(address) or not is_page(path):
        return "/"
    _, first, *rest = path.split("/")
    if f"/{first}" == SETTINGS:
        return f"{SETTINGS}/{rest[0]}" if rest and rest[0] in _SETTINGS_PAGES else "/"
    days = [(name, value) for name, value in parse_qsl(query) if name in _DAYS]
    return f"/{first}?{urlencode(days)}" if days else f"/{first}"
