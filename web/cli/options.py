"""The parts that commands share: errors in one line, the warehouse, option types, output."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import click
import orjson
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from warehouse.connections.backends import backend_of
from warehouse.connections.engine import open_engine
from warehouse.connections.errors import defect, unanswered
from warehouse.domain.time import iso_millis
from warehouse.migrations.migrate import migrate, require_warehouse
from warehouse.operations.shop_registry import ShopDiffers
from warehouse.setting_values import SettingError
from warehouse.settings import WAREHOUSE_URL
from warehouse.tenants.deletion import UnknownShop
from web.auth.api_keys import KeyNotActive, KeyNotFound, ShopNotFound, TooManyKeys, end_of_day
from web.auth.audit import OPERATOR
from web.auth.members import AlreadyMember, MemberDisabled, MemberNotFound, normalize_email
from web.auth.operators import NoOperator
from web.auth.write_keys import NoFolder, WriteKeyNotFound
from web.clock import wall_clock

# Errors whose own message tells the operator what to do.
_OPERATOR_ERRORS: Final = (
    *(ShopNotFound, KeyNotFound, KeyNotActive, TooManyKeys, WriteKeyNotFound, NoFolder),
    *(MemberNotFound, MemberDisabled, AlreadyMember, NoOperator),
    *(ShopDiffers, UnknownShop, SettingError, OSError),
)

# Characters of a value that an error shows.
_QUOTED: Final = 60

shop_filter: Final = click.option("--shop", help="Only this shop.")
json_flag: Final = click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn an error into one line on standard error and exit status 1."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except _OPERATOR_ERRORS as error:
        raise click.ClickException(str(error)) from None
    except SQLAlchemyError as error:
        raise click.ClickException(unanswered(error)) from None
    except Exception as error:
        raise click.ClickException(defect(error)) from None


@contextmanager
def open_warehouse(*, creates: bool = True) -> Iterator[Engine]:
    """An engine on the warehouse, which is created or migrated first. Commands that only read create none.
    Raises NoWarehouse."""
    if not creates:
        require_warehouse(WAREHOUSE_URL.get())
    engine = open_engine(WAREHOUSE_URL.get())
    try:
        migrate(engine)
        yield engine
    finally:
        engine.dispose()


def require_known_pooler(engine: Engine) -> None:
    """Raises SettingError where a pooler in transaction mode is before the warehouse and its URL does not
    say so."""
    backend = backend_of(WAREHOUSE_URL.get())
    if not backend.allows_shared_sessions and backend.shares_sessions(engine):
        raise SettingError(
            "WAREHOUSE_URL names a pooler in transaction mode (such as pgbouncer): add "
            "prepare_threshold=None to its query, as in postgresql://USER:PASSWORD@HOST:6432/NAME"
            "?prepare_threshold=None"
        )


@contextmanager
def transaction() -> Iterator[Connection]:
    """A transaction on the warehouse. It is committed unless an error is raised."""
    with open_warehouse() as engine, engine.connect().execution_options(writes=True) as connection:
        yield connection
        connection.commit()


class ChoiceList(click.ParamType[tuple[str, ...]]):
    """A comma-separated list of words from a closed set; `word` says what one of them is called."""

    def __init__(self, word: str, choices: tuple[str, ...], *, may_be_empty: bool = False) -> None:
        self.name = f"{word}s"
        self._word = word
        self._choices = choices
        self._may_be_empty = may_be_empty

    def convert(self, value: Any, _param: Any, _context: Any) -> tuple[str, ...]:
        if self._may_be_empty and not value.strip():
            return ()
        words = tuple(text.strip() for text in value.split(","))
        for word in words:
            if word not in self._choices:
                self.fail(f"{word!r} is not a {self._word}; choose from {', '.join(self._choices)}")
        return words


class EndOfDay(click.ParamType[int]):
    """A UTC day `YYYY-MM-DD`, as the instant at which it ends."""

    name = "day"

    def convert(self, value: Any, _param: Any, _context: Any) -> int:
        try:
            return end_of_day(value)
        except ValueError as error:
            self.fail(str(error))


class Email(click.ParamType[str]):
    """An e-mail address, as it is stored."""

    name = "email"

    def convert(self, value: Any, _param: Any, _context: Any) -> str:
        try:
            return normalize_email(value)
        except ValueError as error:
            self.fail(str(error))


class ByRule(click.ParamType[str]):
    """A text that a rule of `warehouse/domain/text_rules.py` allows, as it is stored."""

    def __init__(self, name: str, rule: Callable[[str], str], example: str = "") -> None:
        """`example`: a text that is allowed, where the rule's reasons name none."""
        self.name = name
        self._rule = rule
        self._advice = f"; an example is {example}" if example else ""

    def convert(self, value: Any, _param: Any, _context: Any) -> str:
        try:
            return self._rule(value)
        except ValueError as error:
            shown = value if len(value) <= _QUOTED else f"{value[:_QUOTED]}…"
            self.fail(f"{shown!r} {error}{self._advice}")


def print_json(rows: Iterable[Mapping[str, Any]]) -> None:
    for row in rows:
        click.echo(orjson.dumps(row))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A header line and one line per row, in aligned columns. A character that a terminal would obey is
    shown as an escape such as `\\x1b`: names can come from strangers."""
    lines = [header, *([_printable(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def as_operator() -> dict[str, Any]:
    """The keyword arguments of a change that the operator makes now."""
    return {"by": OPERATOR, "now": wall_clock()}


def format_instant(instant: int | None) -> str | None:
    return None if instant is None else iso_millis(instant)
