"""The reasons why a value is refused."""

from datetime import date
from typing import Any, Final

from warehouse.domain.addresses import masked
from warehouse.domain.email_hash import without_hashes

_QUOTED: Final = 60
_ADDRESS: Final = "***"
# Cut after addresses are hidden: half an address is no address, and would stay.
_LOOKED_AT: Final = 2_000


class InvalidValue(ValueError):
    """A value that cannot be imported. The message is the reason, without the field's name."""


class LostDigits(InvalidValue):
    """An id of which a spreadsheet or a program has lost digits: others of its file may look alike, so that
    none of them is to be trusted."""

    def __init__(self, value: Any) -> None:
        super().__init__(
            f"{quoted(value)} is no id any more: a spreadsheet, or a program that took it for a number with "
            "decimals, has lost its last digits; export the file again, and import it as it was exported"
        )


class TooLarge(InvalidValue):
    """A number that has no place in 64 bits."""


def quoted(value: Any, most: int = _QUOTED) -> str:
    """A value as a reason shows it: on one line, at most so many characters, without e-mail addresses
    and their hashes. So a reject has the same reason when it is tried again."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    text = (value.isoformat() if isinstance(value, date) else str(value))[:_LOOKED_AT]
    text = without_hashes(masked(text, lambda _address: _ADDRESS), _ADDRESS)
    shown = text if len(text) <= most else f"{text[:most]}…"
    # repr() escapes line feeds, NUL and halves of surrogate pairs, which databases refuse.
    return repr(shown) if isinstance(value, str) else shown
