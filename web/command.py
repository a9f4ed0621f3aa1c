"""What the commands share: the warehouse, types of options, how things are printed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from warehouse.days import iso_millis
from warehouse.defects import defect
from warehouse.engine import open_engine
from warehouse.migrate import migrate
from warehouse.settings import WAREHOUSE_URL, SettingError
from web import keys
from web.expiry import end_of_day
from web.members import accounts


class Words(click.ParamType[tuple[str, ...]]):
    """A comma-separated list of known words."""

    def __init__(self, name: str, known: tuple[str, ...], *, may_be_empty: bool = False) -> None:
        self.name = f"{name}s"
        self._one = name
        self._known = known
        self._may_be_empty = may_be_empty

    def convert(self, value: Any, _param: Any, _context: Any) -> tuple[str, ...]:
        if self._may_be_empty and not value.strip():
            return ()
        words = tuple(text.strip() for text in value.split(","))
        for word in words:
            if word not in self._known:
                self.fail(f"{word!r} is no {self._one}; there are {', '.join(self._known)}")
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
            return accounts.plain_email(value)
        except ValueError as error:
            self.fail(str(error))


@contextmanager
def warehouse() -> Iterator[Engine]:
    """An engine on the migrated warehouse. What fails becomes one line and exit status 1."""
    try:
        engine = open_engine(WAREHOUSE_URL.get())
        migrate(engine)
        yield engine
    except keys.UnknownShop as error:
        raise click.ClickException(f"there is no shop {error}") from None
    except keys.UnknownKey as error:
        raise click.ClickException(f"there is no key {error}") from None
    except keys.NotActive as error:
        raise click.ClickException(f"the key {error} is not active, or was rotated") from None
    except accounts.UnknownMember as error:
        raise click.ClickException(f"the shop has no member {error}") from None
    except accounts.AlreadyMember as error:
        raise click.ClickException(f"{error} is a member of the shop already") from None
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        raise click.ClickException(f"the warehouse does not answer: {reason}") from None
    except (SettingError, ArgumentError, OSError) as error:
        raise click.ClickException(str(error)) from None
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:
        raise click.ClickException(defect(error)) from None


@contextmanager
def writing() -> Iterator[Connection]:
    """A transaction on the warehouse, committed where nothing fails."""
    with warehouse() as engine, engine.connect().execution_options(writes=True) as connection:
        yield connection
        connection.commit()


def shown_time(instant: int | None) -> str | None:
    return None if instant is None else iso_millis(instant)
