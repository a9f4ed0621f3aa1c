"""The parts that commands share: errors in one line, the warehouse, option types, lists."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import click
import orjson
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from warehouse.connections.engine import backend_of, open_engine
from warehouse.connections.errors import defect, unanswered
from warehouse.domain.time import iso_millis, now_micros
from warehouse.migrations.migrate import migrate, require_warehouse
from warehouse.setting_values import SettingError
from warehouse.settings import WAREHOUSE_URL
from warehouse.shops.shop_registry import ShopDiffers
from warehouse.tenants.deletion import UnknownShop
from web.auth.audit import OPERATOR, Change, OperatorError

# Errors whose own message tells the operator what to do.
_TOLD: Final = (OperatorError, ShopDiffers, UnknownShop, SettingError, OSError)

# Characters of a value that an error shows.
_QUOTED: Final = 60

_shop_filter: Final = click.option("--shop", help="Only this shop.")
_json_flag: Final = click.option(
    "--json", "as_json", is_flag=True, help="One JSON object per line."
)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn an error into one line on standard error and exit status 1."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except _TOLD as error:
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
    """Raise SettingError where a pooler in transaction mode is before the warehouse and its URL does not
    say so."""
    backend = backend_of(WAREHOUSE_URL.get())
    if not backend.allows_shared_sessions and backend.shares_sessions(engine):
        raise SettingError(
            "WAREHOUSE_URL names a pooler in transaction mode (such as pgbouncer): add "
            "prepare_threshold=None to its query, as in postgresql://USER:PASSWORD@HOST:6432/NAME"
            "?prepare_threshold=None"
        )


@contextmanager
def transaction() -> Iterator[Change]:
    """A change that the operator makes now. It is committed unless an error is raised."""
    with open_warehouse() as engine, engine.connect().execution_options(writes=True) as connection:
        yield Change(connection, OPERATOR, now_micros())
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


class ByRule(click.ParamType[Any]):
    """A text as a rule reads it. The rule raises ValueError, which says what the text is not."""

    def __init__(self, name: str, rule: Callable[[str], Any], example: str = "") -> None:
        """`example`: a text that is allowed, where the rule's reasons name none."""
        self.name = name
        self._rule = rule
        self._advice = f"; an example is {example}" if example else ""

    def convert(self, value: Any, _param: Any, _context: Any) -> Any:
        try:
            return self._rule(value)
        except ValueError as error:
            shown = value if len(value) <= _QUOTED else f"{value[:_QUOTED]}…"
            self.fail(f"{shown!r} {error}{self._advice}")


Listed = Mapping[str, Any]
"""A row of a list: more than it shows may be in it. Instants are in microseconds."""


def listing(
    command: Callable[[Callable[..., None]], click.Command],
    members: str,
    show: Callable[[Sequence[Listed]], None],
    *,
    by_shop: bool = True,
) -> Callable[[Callable[..., Iterable[Listed]]], click.Command]:
    """Make a command, as `group.command("list")` does, of a function that reads rows from a connection, of a
    shop or of all (None). The command creates no warehouse.

    `members` are those of the rows' JSON, in this order: `created_at` becomes `createdAt`, and an instant a
    text. `show` prints the rows for people.
    """
    options = (_shop_filter, _json_flag) if by_shop else (_json_flag,)

    def make(read: Callable[..., Iterable[Listed]]) -> click.Command:
        def run(as_json: bool, **shop: str | None) -> None:
            with open_warehouse(creates=False) as engine, engine.connect() as connection:
                rows = list(read(connection, **shop))
            if not as_json:
                show(rows)
                return
            for row in rows:
                json = {}
                for member in members.split():
                    first, *rest = member.split("_")
                    name = first + "".join(map(str.capitalize, rest))
                    json[name] = _value(member, row[member])
                click.echo(orjson.dumps(json))

        run.__doc__ = read.__doc__
        for option in reversed(options):
            option(run)
        return command(run)

    return make


def table(columns: str, **nothing: str) -> Callable[[Sequence[Listed]], None]:
    """A function that prints a header line and one line per row, in aligned columns.

    `columns` are headings with members of a row, as in "SHOP shop_id, LAST USED last_used_at"; `nothing` are
    the words for members that are empty. A character that a terminal would obey is shown as an escape such as
    `\\x1b`: names can come from strangers.
    """
    headings, members = zip(*(one.rsplit(" ", 1) for one in columns.split(", ")), strict=True)

    def cell(row: Listed, member: str) -> str:
        value = _value(member, row[member]) or nothing.get(member, "")
        if value is True:
            return "yes"
        text = value if isinstance(value, str) else ",".join(value)
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)

    def show(rows: Sequence[Listed]) -> None:
        lines = [headings, *([cell(row, member) for member in members] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            cells = (text.ljust(width) for text, width in zip(line, widths, strict=True))
            click.echo("  ".join(cells).rstrip())

    return show


def _value(member: str, value: Any) -> Any:
    is_instant = value is not None and (member == "at" or member.endswith("_at"))
    return iso_millis(value) if is_instant else value
