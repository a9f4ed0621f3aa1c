"""The cookie of the settings pages: signed, HttpOnly, SameSite=Lax, Secure where the request is.

It holds the token of the sign-in, the CSRF token and messages for the next page; what a sign-in may do
is in the warehouse. Only requests to the pages read it: to the API it means nothing.
"""

from secrets import token_hex
from typing import Any, Final

from flask import Flask, Request, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from warehouse.schema import secret
from warehouse.settings import SECRET_KEY
from web.addresses import is_page
from web.database import Database

_NAME: Final = "cookie key"


class PageSessions(SecureCookieSessionInterface):
    """Flask's own signed cookie, for the pages alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        if not is_page(request.path):
            return None
        if not app.secret_key:
            try:
                app.secret_key = SECRET_KEY.get() or shared_key(self._database)
            except SQLAlchemyError:
                return None  # the page finds out for itself, and says so
        return super().open_session(app, request)

    def get_cookie_name(self, app: Flask) -> str:
        # The prefix has browsers refuse it from another host, and without Secure.
        return "__Host-member" if request.is_secure else "member"

    def get_cookie_secure(self, app: Flask) -> bool:
        return request.is_secure


def shared_key(database: Database) -> str:
    """The key that every process signs with: made up by the first that needs it."""
    statement = select(secret.c.value).where(secret.c.name == _NAME)
    with database.read() as connection:
        found: Any = connection.execute(statement).scalar_one_or_none()
    if found is None:
        with database.write() as connection:
            try:
                connection.execute(insert(secret), {"name": _NAME, "value": token_hex(32)})
                connection.commit()
            except IntegrityError:
                connection.rollback()  # another was first
            found = connection.execute(statement).scalar_one()
    return str(found)
