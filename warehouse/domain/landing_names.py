"""Names in the landing folder that both rooms know: jobs read there; the collector, and the page that takes
files, write there."""

import os
import re
from typing import Final

# Folders beside the files, for those that were read and those that could not be.
DONE: Final = "done"
FAILED: Final = "failed"
OWN: Final = "own"
"""In the place of a format's folder: rows of this program that are all of the shop whose folder follows."""
# The end of the names of their reports.
REPORT: Final = ".report.json"
# How the names of the collector's files begin; then come an instant and a text of its own for each.
COLLECTED: Final = "collected-"
_COLLECTED: Final = re.compile(rf"{COLLECTED}\d{{8}}T\d{{6}}Z-[0-9a-f]{{16}}(-\d+)?\.ndjson")
# How those of pulls begin; then come the pull's name, `~` and an instant.
PULLED: Final = "pulled-"
# How those begin that members dropped on a page; then come some hexadecimal digits and a name.
DROPPED: Final = "dropped-"
_DROPPED: Final = re.compile(rf"{DROPPED}[0-9a-f]{{16}}-.+", re.DOTALL)
# The decimal mark that a member said of a dropped table; names that people give files have no `~` there.
_DECIMAL: Final = re.compile(rf"({DROPPED}[0-9a-f]{{16}}-)(?:~(point|comma)~)?(.+)", re.DOTALL)
DROPPED_FOLDER: Final = ".dropped"
"""The folder of the files that nobody asked to import yet, with one for each shop. Its dot hides it from the
import."""
_PULLED: Final = re.compile(rf"{PULLED}.+~(\d{{8}}T\d{{12}}Z).*", re.DOTALL)
_ASIDE: Final = re.compile(rf"\.{PULLED}.+\.part", re.DOTALL)
_LONGEST_NAME: Final = 255


def can_be_folder(shop_id: str) -> bool:
    """Whether a shop's id can be the name of its folder."""
    return (
        0 < len(os.fsencode(shop_id)) <= _LONGEST_NAME
        and not shop_id.startswith(".")
        and "/" not in shop_id
        and "\0" not in shop_id
        and shop_id not in (DONE, FAILED)
    )


def is_collected(name: str) -> bool:
    """Whether the collector has named a file so; `done/` may have added a number."""
    return bool(_COLLECTED.fullmatch(name))


def aside_of(name: str) -> str:
    """The name under which a pull writes until its file is whole."""
    return f".{PULLED}{name}.part"


def is_aside(name: str) -> bool:
    """Whether a pull has named a file so until it is whole."""
    return bool(_ASIDE.fullmatch(name))


def is_dropped(name: str) -> bool:
    """Whether a file was dropped on a page, or is the report of one that was."""
    return bool(_DROPPED.fullmatch(name))


def pulled_stamp(name: str) -> str:
    """The instant in the name of a pull's file, which all files of that pull have; "" for other files."""
    match = _PULLED.fullmatch(name)
    return match[1] if match else ""


def with_decimal(name: str, decimal: str) -> str:
    """The name of a dropped file of which the decimal mark is said."""
    return _DECIMAL.sub(rf"\g<1>~{decimal}~\g<3>", name)


def decimal_of(name: str) -> str:
    """The decimal mark that is said of a dropped file of this name; "" for other files."""
    match = _DECIMAL.fullmatch(name)
    return (match[2] or "") if match else ""


def given_name(name: str) -> str:
    """The name that people know a file by."""
    match = _DECIMAL.fullmatch(name)
    return match[3] if match else name


def is_service_file(name: str) -> bool:
    """Whether the service itself has put a file of this name there, or it is the report of one."""
    if is_dropped(name) or _PULLED.fullmatch(name):
        return True
    return is_collected(name.removesuffix(REPORT))
