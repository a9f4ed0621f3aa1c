"""The pages that members use in a browser: they sign in, create, rotate and revoke keys, set their shop up,
and look after their account.

Start with `page_request.py`, which says what happens around every page; `connections.py` is the main
page. Rules on keys and members belong in `web/auth`, and answers of the API in `web/reports`.
"""

from typing import Final

from flask import Flask

from warehouse.domain.time import MICROS_PER_SECOND
from web.auth.sessions import PERSISTENT_LIFETIME
from web.http.services import services_of
from web.pages import (
    account,
    connections,
    members,
    notes,
    page_request,
    rendering,
    seen_forms,
    setup,
    sign_in_pages,
)
from web.pages.session_cookie import PageSessions

_BLUEPRINTS: Final = (
    *(module.blueprint for module in (sign_in_pages, connections, members, setup, seen_forms)),
    *(seen_forms.codes, notes.blueprint, connections.activity, account.blueprint),
)


def register(app: Flask) -> None:
    """Add the pages to an application that has its `Services`."""
    app.session_interface = PageSessions(services_of(app).database)
    app.config.update(
        # page_request.py checks each form itself, since the API takes no forms and no cookies.
        WTF_CSRF_CHECK_DEFAULT=False,
        # A form is valid as long as its sign-in.
        WTF_CSRF_TIME_LIMIT=None,
        SESSION_COOKIE_SAMESITE="Lax",
        # The lifetime of a persistent sign-in's cookie, from its last change on. The sign-in itself ends
        # in the warehouse.
        PERMANENT_SESSION_LIFETIME=PERSISTENT_LIFETIME // MICROS_PER_SECOND,
        SESSION_REFRESH_EACH_REQUEST=False,
    )
    page_request.csrf.init_app(app)
    rendering.register(app)
    app.jinja_env.globals["may_open"] = page_request.may_open
    for blueprint in _BLUEPRINTS:
        app.register_blueprint(blueprint)
