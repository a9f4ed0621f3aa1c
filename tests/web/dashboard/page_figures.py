"""The figures of a page as programs read them: by their attributes, and where they stand."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

_VOID = frozenset(("meta", "link", "input", "br", "img", "rect", "hr", "circle", "line", "path"))
_VOID_SVG = frozenset(("polyline",))


@dataclass
class Figure:
    """`card` is the heading of its card, `table` the name of its table, `row` the attributes of its line
    (form, row, source, field, provider, currency). `now`, `before` are numbers of the API. `against` is the
    filter of the other column: that of `before`, or of a figure without one. `usual`
    is a whole day's where `now` is of one that is not over."""

    name: str
    now: float
    section: str
    card: str
    table: str
    row: dict[str, str]
    change: str = ""
    before: float | None = None
    days: str = ""
    days_before: str = ""
    within: int | None = None
    against: str = ""
    usual: float | None = None
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def figures(page: str) -> list[Figure]:
    """In the order of the page."""
    parser = _Parser()
    parser.feed(page)
    return parser.found


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Figure] = []
        self._section = self._card = self._table = ""
        self._row: dict[str, str] = {}
        self._heading: list[str] | None = None
        self._in_card = False
        # (tag, the figure that it is) of each open element.
        self._open: list[tuple[str, Figure | None]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values: dict[str, Any] = dict(attributes)
        figure = self._figure(values) if "data-figure" in values else None
        if tag not in _VOID:
            self._open.append((tag, figure))
        if tag in ("h1", "h2"):
            self._heading = []
        if tag == "li" and "card-of" in (values.get("class") or "").split():
            self._in_card, self._card = True, ""
        if tag == "table":
            self._table = values.get("data-table") or ""
        if tag == "tr":
            self._row = {
                name[5:]: text or "" for name, text in values.items() if name[:5] == "data-"
            }

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        self._open.pop()
        if tag in ("h1", "h2") and self._heading is not None:
            text, self._heading = " ".join(" ".join(self._heading).split()), None
            if self._in_card:
                # Behind the point stands what it is in parts of something.
                self._card = text.partition(" ·")[0]
            else:
                self._section = text
        if tag == "li":
            self._in_card, self._card = False, ""
        if tag == "table":
            self._table, self._row = "", {}
        if tag == "tr":
            self._row = {}

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        pass

    def handle_data(self, data: str) -> None:
        if self._heading is not None:
            self._heading.append(data)
        innermost = next((figure for _, figure in reversed(self._open) if figure), None)
        if innermost:
            innermost.texts.append(data)

    def _figure(self, values: dict[str, str]) -> Figure:
        before, within = values.get("data-before"), values.get("data-within")
        figure = Figure(
            values["data-figure"],
            float(values["data-value"]),
            self._section,
            self._card,
            self._table,
            self._row | ({"row": values["data-row"]} if "data-row" in values else {}),
            values.get("data-change", ""),
            None if before is None else float(before),
            values.get("data-days", ""),
            values.get("data-days-before", ""),
            int(within) if within else None,
            values.get("data-against", ""),
            None if values.get("data-usual") is None else float(values["data-usual"]),
        )
        self.found.append(figure)
        return figure
