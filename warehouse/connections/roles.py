"""Roles of PostgreSQL for processes that may do little in the warehouse. SQLite has none: who opens its
file has all of it."""

from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Final

from sqlalchemy import URL, Connection, Table, make_url, text

from warehouse.connections.engine import backend_of
from warehouse.setting_values import SettingError

_ALGORITHM: Final = b"scram-sha-256"
# PostgreSQL's longest name, in bytes.
_MAX_BYTES: Final = 63


def make_role(
    connection: Connection,
    url: str | URL,
    suffix: str,
    columns: Mapping[Table, Sequence[str]],
    written: Sequence[Table] = (),
) -> URL:
    """Make a role that may read these columns of the warehouse at `url`, add and change rows of the `written`
    tables, and do nothing else; return the URL by which it comes. It is named after the database. One that is
    there gets a new password and loses what else it may do. The caller commits. Raises SettingError on
    SQLite."""
    owner = make_url(url)
    if backend_of(owner).name == "sqlite":
        raise SettingError(
            "WAREHOUSE_URL names an SQLite file, and only PostgreSQL has roles: give the collector the "
            "same URL"
        )
    database = str(connection.scalar(text("SELECT current_database()")))
    role = database.encode()[: _MAX_BYTES - len(suffix)].decode(errors="ignore") + suffix
    password = token_hex(32)
    # The server's log may show the statement, and has the password in it for nobody.
    driver = connection.connection.driver_connection
    assert driver is not None
    verifier = driver.pgconn.encrypt_password(password.encode(), role.encode(), _ALGORITHM).decode()
    quote = connection.dialect.identifier_preparer.quote_identifier
    name, schema = quote(role), quote(str(connection.scalar(text("SELECT current_schema()"))))
    is_there = text("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = :role)")
    verb = "ALTER" if connection.scalar(is_there, {"role": role}) else "CREATE"
    statements = [
        f"{verb} ROLE {name} LOGIN PASSWORD '{verifier}'",
        f"REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {name}",
        f"GRANT USAGE ON SCHEMA {schema} TO {name}",
        *(
            f"GRANT SELECT ({', '.join(map(quote, names))}) ON {quote(table.name)} TO {name}"
            for table, names in columns.items()
        ),
        *(f"GRANT INSERT, UPDATE ON {quote(table.name)} TO {name}" for table in written),
    ]
    for statement in statements:
        connection.exec_driver_sql(statement)
    return owner.set(username=role, password=password)
