"""The texts of a page by section, and a check that no number of it was left out.

A test states each table and card of a section as it follows from the API's answers; `check()` compares
them, and fails for every other number that the section shows: in a sentence, a label, or the title of a bar.
"""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

Row = list[str]
_VOID = frozenset(("meta", "link", "input", "br", "img", "rect", "hr"))
# Texts that are no figures of the section: its controls, and how it is counted. test_days.py looks at charts
# of days.
_LEFT_OUT = frozenset(("select", "script", "datalist"))
_LEFT_OUT_CLASSES = frozenset(("how", "source", "sort-problem", "day-chart"))


@dataclass
class Section:
    """`tables` are the rows of each `tbody` (with those of its `tfoot`), `cards` the texts of each card by
    its heading, `others` the texts elsewhere."""

    tables: list[list[Row]] = field(default_factory=list)
    cards: dict[str, list[str]] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)

    def check(
        self,
        *tables: list[Row],
        cards: dict[str, list[str]] | None = None,
        others: tuple[str, ...] | list[str] = (),
    ) -> None:
        """Compare all tables and cards; every other text with a digit must be one of `others`, and each
        of `others` must be there."""
        assert self.tables == list(tables)
        assert self.cards == (cards or {})
        numbers = [text for text in self.others if re.search(r"\d", text)]
        assert sorted(numbers) == sorted(others)


def sections(page: str) -> dict[str, Section]:
    """The sections of a page by their heading (`h1` or `h2`); what comes before the first is under ""."""
    parser = _Parser()
    parser.feed(page)
    return parser.found


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, Section] = {"": Section()}
        self._section = self.found[""]
        # (tag, whether its content is left out) of each open element.
        self._open: list[tuple[str, bool]] = []
        self._in_main = False
        self._heading: list[str] | None = None
        self._card: str | None = None
        self._table: list[Row] | None = None
        self._row: Row | None = None
        self._cell: list[str] | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            return
        classes = set((dict(attributes).get("class") or "").split())
        hidden = tag in _LEFT_OUT or bool(_LEFT_OUT_CLASSES & classes)
        self._open.append((tag, hidden or self._is_hidden()))
        if tag == "main":
            self._in_main = True
        if tag in ("h1", "h2"):
            self._heading = []
        if tag == "li" and "card" in classes:
            self._card = ""
        if tag == "tbody":
            self._table = []
            self._section.tables.append(self._table)
        if tag == "tr" and self._table is not None:
            self._row = []
            self._table.append(self._row)
        if tag in ("td", "th") and self._row is not None:
            self._cell = []

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        assert self._open, f"</{tag}> closes nothing"
        opened, _ = self._open.pop()
        assert opened == tag, f"</{tag}> closes <{opened}>"
        if tag == "main":
            self._in_main = False
        if tag in ("h1", "h2") and self._heading is not None:
            heading, self._heading = _joined(self._heading), None
            if self._card == "":
                self._card = heading
                self._section.cards[heading] = []
            else:
                self._section = self.found.setdefault(heading, Section())
        if tag == "li" and self._card is not None:
            self._card = None
        if tag in ("td", "th") and self._cell is not None and self._row is not None:
            self._row.append(_joined(self._cell))
            self._cell = None
        if tag == "tr":
            self._row = None
        if tag == "thead" or tag == "table":
            self._table = None

    def handle_data(self, data: str) -> None:
        text = _joined([data])
        if not text or not self._in_main or self._is_hidden():
            return
        if self._heading is not None:
            self._heading.append(text)
        elif self._cell is not None:
            self._cell.append(text)
        elif any(tag == "thead" for tag, _ in self._open):
            # Headings of columns are no figures.
            return
        elif self._card:
            self._section.cards[self._card].append(text)
        else:
            self._section.others.append(text)

    def _is_hidden(self) -> bool:
        return bool(self._open) and self._open[-1][1]


def _joined(texts: list[str]) -> str:
    return " ".join(" ".join(texts).split())
