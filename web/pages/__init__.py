"""The pages that members use in a browser: they sign in, create, rotate and revoke API keys, and look
after their account.

Start with `page_request.py`, which says what happens around every page; `connections.py` is the main
page. Rules on keys and members belong in `web/auth`, and answers of the API in `web/api`.
"""

from flask import Flask

from web.pages import (
    account,
    activity,
    connections,
    page_request,
    rendering,
    setup,
    sign_in_pages,
    write_keys,
)
from web.pages.session_cookie import PageSessions
from web.services import services_of


def register(app: Flask) -> None:
    """Add the pages to an application that has its `Services`."""
    app.session_interface = PageSessions(services_of(app).database)
    app.config.update(
        # page_request.py checks each form itself, since the API takes no forms and no cookies.
        WTF_CSRF_CHECK_DEFAULT=False,
        # A form is valid as long as its sign-in.
        WTF_CSRF_TIME_LIMIT=None,
        SESSION_COOKIE_SAMESITE="Lax",
    )
    page_request.csrf.init_app(app)
    page_request.login.init_app(app, add_context_processor=False)
    rendering.register(app)
    for blueprint in (
        sign_in_pages.blueprint,
        connections.blueprint,
        write_keys.blueprint,
        setup.blueprint,
        activity.blueprint,
        account.blueprint,
    ):
        app.register_blueprint(blueprint)
