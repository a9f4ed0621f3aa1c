"""The texts of a page by section, and a check that no number of it was left out.

A test states each table and card of a section as it follows from the API's answers; `check()` compares
them, and fails for every other number that the section shows: in a sentence, a label, or the title of a bar.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import zip_longest

Row = list[str]
AGED = "~"
_VOID = frozenset(("meta", "link", "input", "br", "img", "rect", "hr"))
# Texts that are no figures of the section: its controls, and how it is counted. test_days.py looks at charts
# of days.
_LEFT_OUT = frozenset(("select", "script", "datalist"))
# Nor what opens: the depth of a figure is read by its attributes (test_figures.py), the menu of a card
# leads on.
_LEFT_OUT_CLASSES = frozenset(
    ("how", "source", "sort-problem", "day-chart", "depth", "deep", "menu", "opens", "closes")
)


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
        """Compare all tables and cards; every other text with a digit must be one of `others`, and each of
        `others` must be there. AGED stands for a figure at equal age, for which most reports of the API
        have no parameter: test_figures.py compares it where there is one."""
        assert [
            _masked(rows, like)
            for rows, like in zip_longest(self.tables, tables, fillvalue=list[Row]())
        ] == [*tables]
        assert {
            name: _masked([texts], [(cards or {}).get(name, [])])[0]
            for name, texts in self.cards.items()
        } == (cards or {})
        numbers = Counter(text for text in self.others if re.search(r"\d", text))
        known = Counter(others)
        aged = known.pop(AGED, 0)
        assert not known - numbers
        assert (numbers - known).total() <= aged


def _masked(rows: list[Row], like: list[Row]) -> list[Row]:
    """The rows with AGED where `like` has it and they have a figure, or none."""
    return [
        [
            AGED if wanted == AGED and re.search("[0-9—]", text) else text
            for text, wanted in zip_longest(row, wanted_row, fillvalue="")
        ][: len(row)]
        for row, wanted_row in zip_longest(rows, like, fillvalue=list[str]())
    ][: len(rows)]


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
        # A figure that opens by itself is read.
        self._open.append((tag, "behind" not in classes and (hidden or self._is_hidden())))
        if tag == "main":
            self._in_main = True
        if tag in ("h1", "h2"):
            self._heading = []
        if tag == "li" and "card-of" in classes:
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
