"""Errors of the database, and errors that nobody foresaw.

An outage is the database's or the machine's trouble, not the fault of the rows at hand: a job stops
and comes again later. Any other error of a batch is blamed on the batch.
"""

import errno
import os
import re
import sqlite3
import traceback
from pathlib import Path
from typing import Final
from urllib.parse import quote, quote_plus

import adbc_driver_manager
from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from warehouse.setting_values import SettingError
from warehouse.settings import READ_WAREHOUSE_URL, WAREHOUSE_URL

# PostgreSQL, by class of SQLSTATE: connection, transaction rollback, resources, prerequisite state
# (locks), operator intervention, system error.
_OUTAGE_CLASSES: Final = ("08", "40", "53", "55", "57", "58")
# PostgreSQL's client, where no SQLSTATE came: the connection is lost.
_LOST_MESSAGES: Final = ("[libpq]", "terminating connection", "server closed the connection")
# SQLite, by primary result code.
_DAMAGE_CODES: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_OUTAGE_CODES: Final = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_NOMEM,
    *_DAMAGE_CODES,
)
# The jobs' driver of SQLite passes on no code: SQLite's own words for one.
_CODES_BY_WORDS: Final = {
    "is locked": sqlite3.SQLITE_BUSY,
    "database or disk is full": sqlite3.SQLITE_FULL,
    # A disk that is full may end the transaction before its commit.
    "cannot commit - no transaction is active": sqlite3.SQLITE_FULL,
    "disk I/O error": sqlite3.SQLITE_IOERR,
    "unable to open database file": sqlite3.SQLITE_CANTOPEN,
    "attempt to write a readonly database": sqlite3.SQLITE_READONLY,
    "out of memory": sqlite3.SQLITE_NOMEM,
    "database disk image is malformed": sqlite3.SQLITE_CORRUPT,
    "file is not a database": sqlite3.SQLITE_NOTADB,
}
_PRIMARY_CODE: Final = 0xFF
# PostgreSQL's code for a disk without space.
_DISK_FULL: Final = "53100"

# The packages of this program, not those of the environment inside its folder.
_ROOT: Final = Path(__file__).parents[2]
# The text between the user's name and the last @ of a URL.
_PASSWORD_IN_URL: Final = re.compile(r"(://[^:/@\s]*+:)\S*(?=@)")
# A password as a parameter, as URLs and PostgreSQL's connection strings have it.
_PASSWORD_AS_PARAMETER: Final = re.compile(r"(password\s*+=\s*+)('[^']*+'|[^&\s\"']++)")
_PACKAGES: Final = ("jobs", "warehouse", "web")

# PostgreSQL's and pgbouncer's words: a connection that is refused has no SQLSTATE.
_FULL_MESSAGES: Final = (
    "too many connections",
    "too many clients",
    "remaining connection slots",
    "no more connections allowed",
)


# Outages that rows may have caused: SQLSTATE by class or code.
_OF_ROWS_SQLSTATES: Final = ("08", "53200", "57")

SECRETS: Final = ("password", "sslpassword")
"""The parameters of a URL's query that are passwords."""


class Unavailable(RuntimeError):
    """The warehouse does not answer."""


def is_outage(error: BaseException) -> bool:
    """Whether the warehouse or the machine failed, not the statement."""
    if isinstance(error, Unavailable | PoolTimeout | OSError | MemoryError):
        return True
    if isinstance(error, DBAPIError):
        if error.connection_invalidated:
            return True
        # PostgreSQL's client tells of a lost connection with no SQLSTATE.
        is_lost = isinstance(error, OperationalError | InterfaceError)
        is_lost &= not isinstance(error.orig, sqlite3.Error)
        error = error.orig or error
    elif isinstance(error, adbc_driver_manager.Error):
        is_lost = isinstance(error, adbc_driver_manager.OperationalError)
        is_lost &= any(words in str(error) for words in _LOST_MESSAGES)
    else:
        return False
    if sqlstate := getattr(error, "sqlstate", None):
        return str(sqlstate).startswith(_OUTAGE_CLASSES)
    return is_lost or sqlite_code(error) in _OUTAGE_CODES


def sqlite_code(error: BaseException) -> int | None:
    """SQLite's primary result code of an error, also one that SQLAlchemy has wrapped; None where it is none
    of SQLite's, or has words that decide nothing here."""
    error = getattr(error, "orig", None) or error
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None)
        return None if code is None else code & _PRIMARY_CODE
    if isinstance(error, adbc_driver_manager.Error) and not error.sqlstate:
        said = str(error)
        return next((code for words, code in _CODES_BY_WORDS.items() if words in said), None)
    return None


def may_be_of_rows(error: BaseException) -> bool:
    """Whether the rows at hand may have caused an outage: they need more memory than there is, or have ended
    a process of the server. There is no outage where the warehouse answers a plain statement afterwards. (A
    full disk may do that, too, and is nobody's fault.)"""
    if isinstance(error, adbc_driver_manager.Error):
        if error.sqlstate:
            return str(error.sqlstate).startswith(_OF_ROWS_SQLSTATES)
        is_lost = any(words in str(error) for words in _LOST_MESSAGES)
        return is_lost or sqlite_code(error) == sqlite3.SQLITE_NOMEM
    return isinstance(error, SQLAlchemyError | OSError | MemoryError)


def is_damaged(error: BaseException) -> bool:
    """Whether SQLite found that the file of the warehouse is damaged, or is something else."""
    return sqlite_code(error) in _DAMAGE_CODES


def is_full(error: BaseException) -> bool:
    """Whether the disk of the warehouse has no space left."""
    error = getattr(error, "orig", None) or error
    if isinstance(error, OSError):
        return error.errno == errno.ENOSPC
    sqlstate = getattr(error, "sqlstate", None)
    # The driver's own CREATE TABLE, before it copies rows, passes on no SQLSTATE.
    is_full = isinstance(error, adbc_driver_manager.Error) and not sqlstate
    is_full &= os.strerror(errno.ENOSPC) in str(error)
    return is_full or sqlstate == _DISK_FULL or sqlite_code(error) == sqlite3.SQLITE_FULL


def unanswered(error: BaseException) -> str:
    """One line for a user whose command the warehouse does not answer."""
    said = in_one_line(error)
    if is_full(error):
        return (
            f"the disk of the warehouse is full ({said}). Free some space there, and run this again: what "
            "is stored stays, and goes on from there"
        )
    line = f"the warehouse does not answer: {said}"
    if any(words in said for words in _FULL_MESSAGES):
        line += (
            ". Raise the limit that it names (max_connections, or the CONNECTION LIMIT of the role), or "
            "run less at once; jobs/README.md has the sum, under PostgreSQL"
        )
    return line


def in_one_line(error: BaseException) -> str:
    """The text of an error, or its type where it has none; the database's own where SQLAlchemy has wrapped
    it."""
    text = " ".join(str(getattr(error, "orig", None) or error).split())
    return without_password(text) or type(error).__name__


def with_type(error: BaseException) -> str:
    """The type and the text of an error, in one line."""
    return without_password(" ".join(f"{type(error).__name__}: {error}".split()))


def is_collision(error: BaseException) -> bool:
    """Whether a transaction was rolled back because of another one, so that a retry can succeed."""
    sqlstate = str(getattr(error, "sqlstate", None) or "")
    return sqlstate.startswith("40") or sqlite_code(error) == sqlite3.SQLITE_BUSY


def without_password(message: str) -> str:
    """A message of the database's driver, which may quote a URL, without the password in it."""
    for setting in (WAREHOUSE_URL, READ_WAREHOUSE_URL):
        try:
            url = setting.get()
        except SettingError:
            continue
        query = make_url(url).normalized_query if url else {}
        passwords = [text for name in SECRETS for text in query.get(name, ())]
        for password in [make_url(url).password or "", *passwords] if url else ():
            spellings = {password, quote(password), quote(password, safe=""), quote_plus(password)}
            for written in spellings - {""}:
                message = message.replace(written, "***")
    message = _PASSWORD_AS_PARAMETER.sub(r"\1***", message)
    return _PASSWORD_IN_URL.sub(r"\1***", message)


def defect(error: BaseException) -> str:
    """An error that nobody foresaw, in one line: what went wrong, and the lines of this program that
    led there, the innermost first. Commands show their users no stack trace."""
    lines = []
    for frame in traceback.extract_tb(error.__traceback__):
        path = Path(frame.filename)
        if path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in _PACKAGES:
            lines.append(f"{path.relative_to(_ROOT)}:{frame.lineno}")
    led_there = " < ".join(reversed(lines))
    return f"a defect of this program, please report it: {with_type(error)} ({led_there})"
