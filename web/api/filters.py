"""The filters of an answer (contract 4, "Filters"): parameters that choose form sessions by their attributes,
and with them the orders that are credited to these.

START HERE to add one: its parameter, and in `chosen_sessions` the values that it stands for.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from sqlalchemy import ColumnElement, Connection, bindparam, or_, select

from warehouse.connections.errors import Unavailable
from warehouse.connections.look_ups import read_rows
from warehouse.daily.group_sum import Column
from warehouse.daily.reader import Chosen
from warehouse.domain.hash_ids import text_id
from warehouse.domain.vocabulary import DEVICES, UTM_FIELDS
from warehouse.tables import dim_utm, edition
from web.http.parameters import any_text, one_of

# The value that stands for an empty one.
NONE: Final = "(none)"
UTM_FILTERS: Final = UTM_FIELDS[:-1]
VISITORS: Final = ("returning", "new")
# The version of the logic from which on daily rows can be filtered (`catalogue.LOGIC_VERSION`).
_SINCE: Final = 5
_ORDERS: Final = "and the orders that are credited to them"
_LOGIC: Final = select(edition.c.logic_version).where(edition.c.edition == bindparam("edition"))


# fmt: off
DEVICE: Final = one_of("device", DEVICES[1:], f"Only form sessions on this kind of device, {_ORDERS}.")
VISITOR: Final = one_of("visitor", sorted(VISITORS),
    "Only form sessions that are their visitor's first with the form (`new`) or the others (`returning`), "
    f"{_ORDERS}.")
VARIANT: Final = any_text("variant",
    f"Only form sessions with this variant of an experiment, {_ORDERS}. The earliest event with a variant "
    f"says that of its session. `{NONE}`: without any.")
# fmt: on
FILTERS: Final = (
    DEVICE,
    VISITOR,
    *(
        any_text(
            name,
            f"Only form sessions with this UTM {name.removeprefix('utm_')}, exactly, {_ORDERS}. `{NONE}`: "
            "without any.",
        )
        for name in UTM_FILTERS
    ),
    VARIANT,
)
NAMES: Final = tuple(parameter.name for parameter in FILTERS)


def text_of(value: str) -> str:
    """The text that a filter's value stands for."""
    return "" if value == NONE else value


def variant_id(value: str) -> int:
    """The id of the variant that a filter's value stands for; 0 for none."""
    text = text_of(value)
    return text_id(text) if text else 0


def chosen_sessions(connection: Connection, number: int, filter: Mapping[str, str]) -> Chosen:
    """The form sessions of an edition that meet all of the filters, which are given by name. Raises
    Unavailable while the edition is one of an older program, which has nothing to answer from."""
    if any(version < _SINCE for (version,) in read_rows(connection, _LOGIC, {"edition": number})):
        raise Unavailable(
            "The figures are being made anew, so that they can be filtered. Try again after the next rollup."
        )
    chosen: dict[str, Column] = {}
    if "device" in filter:
        chosen["device"] = np.array([DEVICES.index(filter["device"])])
    if "visitor" in filter:
        chosen["is_first_session"] = np.array([VISITORS.index(filter["visitor"])])
    if "variant" in filter:
        chosen["variant"] = np.array([variant_id(filter["variant"])])
    utm = utm_values(filter)
    if utm["any_utm"]:
        found = [id for (id,) in read_rows(connection, _IDS, {"edition": number, **utm})]
        chosen["utm"] = np.array([*found, *([] if utm["no_utm"] is None else [0])], dtype=np.int64)
    return chosen


def utm_values(filter: Mapping[str, str]) -> dict[str, Any]:
    """The values of the parameters of `has_utm`."""
    utm = {name: text_of(filter[name]) for name in UTM_FILTERS if name in filter}
    # 0 stands for six empty values.
    none = None if any(utm.values()) else 0
    return {**dict.fromkeys(UTM_FILTERS), **utm, "any_utm": 1 if utm else None, "no_utm": none}


def is_asked(value: ColumnElement[Any], *names: str) -> ColumnElement[bool]:
    """The condition that a value is one of those of the parameters with these names, or that none (None) is
    asked for: a statement is the same, whichever filters are given. PostgreSQL leaves it out before it plans,
    where none is."""
    asked = [bindparam(name, type_=value.type) for name in names]
    return or_(asked[0].is_(None), *(value == each for each in asked))


_IDS: Final = select(dim_utm.c.utm).where(
    dim_utm.c.edition == bindparam("edition"),
    *(is_asked(dim_utm.c[name], name) for name in UTM_FILTERS),
)


def has_utm(id: ColumnElement[int]) -> ColumnElement[bool]:
    """The condition that an id stands for UTM values that the filters ask for, or that they ask for none (see
    `is_asked`). PostgreSQL finds these ids once, and reads what has them in the order of its index."""
    asked, empty = (bindparam(name, type_=id.type) for name in ("any_utm", "no_utm"))
    return or_(asked.is_(None), id.in_(_IDS), id == empty)
