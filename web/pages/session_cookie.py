"""The cookie of the pages: signed, HttpOnly, SameSite=Lax, and Secure where people come over HTTPS.

It holds the token of the sign-in, the CSRF token, and messages for the next page. The rights of a
sign-in are in the warehouse. The API ignores the cookie; its description at `/docs` reads it.
"""

from secrets import token_hex
from typing import Any, Final

from flask import Flask, Request, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from itsdangerous import BadSignature
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from warehouse.settings import SECRET_KEY, is_public_https
from warehouse.tables import secret
from web.db.database import Database
from web.http.errors import STATIC, is_page

DOCS: Final = "/docs"
TOKEN: Final = "token"
"""The key of a session under which it has the token of the sign-in."""

_SECRET_NAME: Final = "cookie key"


class PageSessions(SecureCookieSessionInterface):
    """Flask's own signed cookie, for the pages alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        has_session = is_page(request.path) or request.path == DOCS
        if not has_session or request.path.startswith(f"{STATIC}/"):
            return None
        if not app.secret_key:
            try:
                app.secret_key = SECRET_KEY.get() or shared_secret(self._database)
            except (SQLAlchemyError, OSError):
                return None  # the page meets the same error, and answers with it
        # Flask's own reading refuses a cookie that seems older than it may be, or signed in the future: one
        # that another host signed whose clock is ahead. The sign-in itself ends in the warehouse.
        serializer = self.get_signing_serializer(app)
        text = request.cookies.get(self.get_cookie_name(app), "")
        try:
            return self.session_class(serializer.loads(text) if serializer else None)
        except BadSignature:
            return self.session_class()

    def get_cookie_name(self, app: Flask) -> str:
        # Browsers accept a name with this prefix only over HTTPS and from this very host.
        return "__Host-member" if _is_https() else "member"

    def get_cookie_secure(self, app: Flask) -> bool:
        return _is_https()


def _is_https() -> bool:
    return request.is_secure or is_public_https()


def shared_secret(database: Database) -> str:
    """The secret that all processes sign with; the first process that needs it creates it."""
    statement = select(secret.c.value).where(secret.c.name == _SECRET_NAME)
    with database.read() as connection:
        value: Any = connection.execute(statement).scalar_one_or_none()
    if value is None:
        with database.write() as connection:
            try:
                row = {"name": _SECRET_NAME, "value": token_hex(32)}
                connection.execute(insert(secret), row)
                connection.commit()
            except IntegrityError:
                connection.rollback()  # another process was first
            value = connection.execute(statement).scalar_one()
    return str(value)
