"""All that the table of a platform may say: how the columns or members of its report become ad spend."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from jobs.importing.formats.ads.readers import READERS
from jobs.importing.kinds.ad_spend import AdSpendKind

# The languages in which pages of ad platforms name their columns, beyond those that are read.
_LANGUAGES: Final = tomllib.loads(Path(__file__).parents[1].joinpath("languages.toml").read_text())
# Words of one language among the columns by which it is told: English and German have some of them, too.
_FEWEST_WORDS: Final = 2
# "Montant dépensé (EUR)"
_IN_PARENTHESES: Final = re.compile(r"\s*\([A-Z]{3}\)$")


class Fill(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The field that a place fills, and how its values are read: a word of `READERS`."""

    field: str
    read: str


class PageExport(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table that a page of the platform exports, with titles above the header and totals among the rows.
    Its columns alone do not tell it from the table that somebody keeps of all platforms."""

    # How to export a row for each day.
    advice: str
    # Columns that only this page writes.
    only_here: list[str]
    # Columns that tables of several platforms have, too, and that say enough where no column names
    # the platform.
    hints: list[str] = []
    # A pattern of the line above the header, before that with the days, that says as much.
    title: str = ""
    # Names of columns in other languages, with the places that they are.
    translated: dict[str, str] = {}


class ReportTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The table of a platform. Places are names of columns, or members of a JSON object (`campaign.id`)."""

    # The name of such a file on the page Data.
    title: str
    # Place -> the field of ad spend, or several. Where places fill one field, the first with a value counts.
    fields: dict[str, str | list[str] | Fill]
    # Place -> its name in our segment, in the order of the segment; places of one name stand together. "*":
    # each member of the place by its own name, but for those in `segment_without`.
    segment: dict[str, str] = {}
    segment_without: dict[str, list[str]] = {}
    # The provider, where the rows do not state it.
    provider: str = ""
    # The members in which answers in JSON hold rows; [] for answers that are a list of rows. Without it the
    # report is a table.
    lists: list[str] | None = None
    # The columns or members by which a report is recognised. Without any: columns for all required fields.
    shown_by: list[str] = []
    # The places of the first and the last day of a row, which must be one.
    one_day: list[str] = []
    # Texts that stand for a missing value.
    missing: list[str] = []
    # Members whose members count as the row's own.
    members: list[str] = []
    # Whether names may be in snake_case, which the table has in camelCase, and nested ones joined by a point.
    camel_case: bool = False
    # Whether names of columns count in any case and with anything between their words.
    any_spelling: bool = False
    # A member that no row has.
    no_row: str = ""
    # The places that a record without spend states for the rows after it, the account's first.
    account: list[str] = []
    page: PageExport | None = None


def read_table(path: Path) -> ReportTable:
    """The table in a file. Raises ValueError."""
    try:
        table = msgspec.convert(tomllib.loads(path.read_text()), ReportTable)
        for fill in table.fields.values():
            if isinstance(fill, Fill):
                _one_of(fill.read, READERS, "reader")
            for field in fields_of(fill):
                _one_of(field, AdSpendKind.field_names(), "field of ad spend")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return table


def _one_of(word: str, words: Iterable[str], what: str) -> None:
    if word not in words:
        raise ValueError(f"no {what} {word!r}; there are {', '.join(words)}")


def fields_of(fill: str | list[str] | Fill) -> list[str]:
    """The fields of ad spend that a place fills."""
    if isinstance(fill, Fill):
        return [fill.field]
    return [fill] if isinstance(fill, str) else fill


def language_advice(columns: Iterable[str]) -> str:
    """Advice for a table whose columns a page of an ad platform wrote in a language other than English and
    German; else ""."""
    names = {_IN_PARENTHESES.sub("", name.strip()).lower() for name in columns}
    found = {language: len(names.intersection(words)) for language, words in _LANGUAGES.items()}
    best = max(found, key=lambda language: found[language])
    if found[best] < _FEWEST_WORDS:
        return ""
    return f"They are {best}: set the platform's pages to English or German, and export it again"
