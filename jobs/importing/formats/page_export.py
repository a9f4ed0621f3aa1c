"""Tables from the pages of ad platforms: titles above the header, totals among the rows."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from jobs.importing.files import csv
from jobs.importing.files.chunk import UnreadableFile, WantedColumns, listed
from jobs.importing.formats.ad_segment import segment_of
from jobs.importing.formats.base import (
    SKIPPED,
    Format,
    Record,
    Records,
    Row,
    Sample,
    SourceField,
    Target,
)
from jobs.importing.formats.report_files import REQUIRED, raise_if_lacking
from jobs.importing.kinds.ad_spend import AdSpendKind

# Platforms write these for a missing value.
_NO_VALUE: Final = ("", "-", "--", "—")
# "Amount spent (EUR)"
_WITH_CURRENCY: Final = re.compile(r"(.*\S)\s*\(([A-Z]{3})\)")
_CURRENCY: Final = "Currency"
# With the provider, the fields by which rows of one shop replace each other.
_KEY: Final = ("account_id", "campaign_id", "date", "segment")
# The name can stand in for the id, and the header for the column of the currency.
_REQUIRED: Final = REQUIRED - {"campaign_id", "currency"}


class PageExport(Format):
    """Rows of one day each. `columns`: the names of columns with the field of ad spend that each fills; of
    two that fill the same the first that has a value counts. `finer`: columns that split a row further, with
    their names in our segment. `translated`: the names of columns on pages in other languages, with those
    in English. `shown_by`: the columns by which a header is recognised. `advice`: how to export a row for
    each day."""

    kind = "ad-spend"
    counts: ClassVar = (SKIPPED,)
    provider: ClassVar[str]
    columns: ClassVar[dict[str, str]]
    finer: ClassVar[dict[str, str]]
    translated: ClassVar[dict[str, str]]
    shown_by: ClassVar[frozenset[str]]
    advice: ClassVar[str]

    def matches(self, sample: Sample) -> bool:
        lines = sample.head[: 64 << 10].decode("utf-8", "replace").splitlines()
        return csv.find_header(lines, self._is_header) is not None

    def records(self, path: Path, dates: str = "") -> Iterator[Records]:
        fields = dict(self.source_fields)
        wanted = WantedColumns(
            (*fields, *self.translated),
            notation_of=lambda name: AdSpendKind.notation_of(fields.get(self._plain(name), "")),
            dates=dates,
            is_header=self._is_like_header,
        )
        # By key, the first line and the hash of its cells.
        first: dict[tuple[Any, ...], tuple[int, int]] = {}
        for chunk in csv.chunks(path, wanted):
            names = [self._plain(name) for name in chunk.columns]
            filled = {self.columns.get(name, "") for name in names}
            if "date" not in filled:
                raise UnreadableFile(f"{path}: no column says the day; {self.advice}")
            raise_if_lacking(path, list(chunk.columns), filled, _REQUIRED)
            currency = self._currency(path, list(chunk.columns))
            rows = zip(*chunk.columns.values(), strict=True)
            numbered = []
            for line, cells in zip(chunk.lines.tolist(), rows, strict=True):
                present = {
                    n: c for n, c in zip(names, cells, strict=True) if c.strip() not in _NO_VALUE
                }
                numbered.append((line, currency | present))
                self.check_days(path, present)
                key = self._key(present, line)
                line_before, cells_before = first.setdefault(key, (line, hash(cells)))
                if hash(cells) != cells_before:
                    raise UnreadableFile(
                        f"{path}: lines {line_before} and {line} are of the same campaign, day and segment: "
                        "one would replace the other; export without what splits them (columns that are "
                        f"not read: {self._unread(chunk.columns)}), or with the ids of campaigns"
                    )
            yield Records(numbered, chunk.broken, chunk.position)

    def row(self, record: Record, target: Target) -> Row | None:
        row: Row = {}
        for source, field in self.columns.items():
            row[field] = row.get(field) or record.get(source)
        if not row["date"] or not row["campaign_name"]:
            target.count(SKIPPED)  # a total
            return None
        finer: dict[str, Any] = {}
        for source, name in self.finer.items():
            finer[name] = finer.get(name) or record.get(source)
        return row | {
            "provider": self.provider,
            "account_id": row["account_id"] and _as_in_api(row["account_id"]),
            "campaign_id": row["campaign_id"] or row["campaign_name"],
            "segment": segment_of(finer.items()),
        }

    def check_days(self, path: Path, record: Record) -> None:
        """Raise UnreadableFile if a row is of several days; here a column of its own has its day."""

    def _key(self, record: Record, line: int) -> tuple[Any, ...]:
        """The values by which the row of a record replaces another one; of a total the number of its line."""
        row = self.row(record, Target())
        return tuple(map(row.get, _KEY)) if row else (line,)

    def _unread(self, header: Iterable[str]) -> str:
        names = [name for name in header if self._plain(name) not in dict(self.source_fields)]
        return ", ".join(listed(names)) or "none"

    def _is_header(self, names: Sequence[str]) -> bool:
        return self.shown_by <= {self._plain(name).lower() for name in names}

    def _is_like_header(self, names: Sequence[str]) -> bool:
        """Whether a line is the header of a file whose format is known: it may lack columns."""
        known = {self._plain(name) for name in names}.intersection(self._spelling().values())
        return len(known) >= len(self.shown_by)

    def _plain(self, name: str) -> str:
        """The English name of a column in our spelling, without a currency and full stops."""
        match = _WITH_CURRENCY.fullmatch(name.strip())
        plain = (match[1] if match else name.strip()).replace(".", "")
        return self._spelling().get(plain.lower(), plain)

    @classmethod
    def _spelling(cls) -> dict[str, str]:
        english = {source: source for source in (*cls.columns, *cls.finer)}
        return {name.lower(): source for name, source in (english | cls.translated).items()}

    def _currency(self, path: Path, header: Sequence[str]) -> Record:
        """The currency that the header states beside the spend; nothing where there is a column of it."""
        if any(self.columns.get(self._plain(name)) == "currency" for name in header):
            return {}
        for name in header:
            match = _WITH_CURRENCY.fullmatch(name.strip())
            if match and self.columns.get(self._plain(name)) == "spend":
                return {_CURRENCY: match[2]}
        raise UnreadableFile(f"{path}: no column says the currency; add it to the report")


def _as_in_api(account: Any) -> str:
    """The id of an account, which pages write as `act_123` or `123-456-7890`."""
    return str(account).removeprefix("act_").replace("-", "")


def source_fields_of(columns: dict[str, str], finer: dict[str, str]) -> tuple[SourceField, ...]:
    """`Format.source_fields` of a page's export."""
    return (
        *(SourceField(source, field) for source, field in columns.items()),
        *(SourceField(source, "segment") for source in finer),
    )
