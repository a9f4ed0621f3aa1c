"""The settings: the pages on which members sign in, and mint and revoke keys.

START HERE: `pages.py` says what happens around every page, `connections.py` is the page that all this
is for. What members may do is decided in `web/members/`, not here.
"""

from flask import Flask

from web.members.grants import PERMISSION_NAMES, SCOPE_OPENS
from web.settings import activity, connections, entrance, errors, pages, times
from web.settings.cookies import PageSessions


def register(app: Flask) -> None:
    """Add the pages to an application that has a `database`, a `clock` and `later`."""
    app.session_interface = PageSessions(app.extensions["database"])
    app.config.update(
        # Each page asks for the check itself (pages.py): the API takes no forms, and no cookies.
        WTF_CSRF_CHECK_DEFAULT=False,
        # A form is good for as long as its sign-in is.
        WTF_CSRF_TIME_LIMIT=None,
        SESSION_COOKIE_SAMESITE="Lax",
    )
    pages.csrf.init_app(app)
    pages.login.init_app(app, add_context_processor=False)
    app.extensions["error_page"] = errors.page
    app.add_template_filter(times.time_element)
    app.add_template_filter(times.end_element)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.globals.update(
        scope_opens=SCOPE_OPENS, permission_names=PERMISSION_NAMES, current=pages.current
    )
    for blueprint in (entrance.blueprint, connections.blueprint, activity.blueprint):
        app.register_blueprint(blueprint)
