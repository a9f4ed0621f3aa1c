"""START HERE for verdicts: cells of figures, and which of a page's changes chance does not explain.

`PageChanges.cell` is the one way from a figure to what a page shows of it; `Column.cell` (`table.py`) alone
calls it. It takes the change into the page's list, and a verdict is made of all of them together (Benjamini
and Hochberg): where nothing has changed, at most one page in twenty shows a colour. So every cell of a page
exists before its template draws the first.

Programs read a page as well. Each figure has the name and the number of the API (`data-figure`,
`data-value`). One that is set beside a former figure says in the same element how it changed
(`data-change`), the former number (`data-before`), the days of both (`data-days`, `data-days-before`) and
the days to buy (`data-within`). Where the days that are shown are not all compared, the compared figure is
an element of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from markupsafe import Markup, escape

from warehouse.domain.time import day_date
from warehouse.domain.vocabulary import minor_units
from web.dashboard import formatting, statistics
from web.dashboard.compare import NO_DATA, NOT_COMPARED, TOO_YOUNG, Pair, Value, number

Attributes = Mapping[str, Any]
UP: Final = "up"
DOWN: Final = "down"
WITHIN_CHANCE: Final = "within-chance"
FEW: Final = "few"
NO_VERDICT: Final = "no-verdict"
# Benjamini and Hochberg's level. Half of one page in twenty: the tests are not exact where few people, or a
# few large orders, decide (`tests/web/dashboard/still_shops.py`).
_LEVEL: Final = 0.025
# An interval of a rate is drawn from so many points on.
_WIDE: Final = 5
_DASH: Final = "\N{EM DASH}"


def written(data: Attributes) -> Markup:
    """The attributes as an element has them. Their values are numbers, days and names of this program:
    nothing in them has to be escaped."""
    return Markup(
        "".join(f' {name}="{value}"' for name, value in data.items() if value is not None)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Chip:
    """The change beside a figure. Where there is no verdict, `word` says why (a value of `data-change`), and
    `size` is all of its text; else `size` is how much, without a sign."""

    family: "PageChanges"
    word: str
    size: str
    told: str
    # Whether it is more than before, None where it is as much; and whether more is better.
    rises: bool | None = None
    is_good: bool = True
    # That of the change, None where nothing is known of its noise.
    p_value: float | None = None

    @property
    def is_sure(self) -> bool:
        return not self.word and self.rises is not None and self.family.believes(self)

    @property
    def is_of_page(self) -> bool:
        """Whether all of a page has it: nothing can be compared. Then a card says it, and no cell of a
        table."""
        return self.word in (TOO_YOUNG, NO_DATA, NOT_COMPARED)

    @property
    def change(self) -> str:
        """The value of `data-change`."""
        if self.is_sure:
            return UP if self.rises else DOWN
        return self.word or WITHIN_CHANCE

    @property
    def tone(self) -> str:
        """The class of its colour; "" for grey."""
        if not self.is_sure:
            return ""
        return "good" if self.rises == self.is_good else "bad"

    @property
    def text(self) -> str:
        """The text of the chip; "" where nobody was there to be compared."""
        if self.is_sure:
            return f"{'▲' if self.rises else '▼'} {self.size}"
        return self.size if self.word else "≈"

    @property
    def title(self) -> str:
        """The change in words."""
        if self.word or self.rises is None:
            return self.told
        return f"{self.told}, {'more than chance makes' if self.is_sure else 'chance explains it'}"


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure as a page shows it; `without` says why there is no `text`. `deep` are the texts that open,
    each with the attributes of its element. `reach` is the interval of a rate that is drawn: from, at, to,
    in per cent. `orders` are links to those that it is made of, each with its words. `beside` is the other
    filter's, where one stands beside the page's. `is_aged`: it is of those who have had the days to buy."""

    text: str
    without: str = ""
    data: Attributes = field(default_factory=dict)
    chip: Chip | None = None
    deep: list[tuple[str, Attributes]] = field(default_factory=list)
    reach: tuple[float, float, float] | None = None
    has_own: bool = False
    is_aged: bool = False
    orders: Sequence[tuple[str, str]] = ()
    beside: "Cell | None" = None

    def opens(self, *, is_card: bool = False) -> bool:
        """Whether something stands beside it that opens its depth."""
        chip = self.chip
        has_chip = bool(chip and chip.text and (is_card or not chip.is_of_page))
        return has_chip or self.reach is not None

    @property
    def attributes(self) -> Markup:
        data = self.data
        if self.chip and data and not self.has_own:
            data = {**data, "data-change": self.chip.change}
        return written(data)

    @property
    def depth(self) -> list[tuple[str, Markup]]:
        """The texts that open, with the change of the compared figure where it is not the one that is
        shown."""
        chip = self.chip
        if not chip:
            return [(text, written(data)) for text, data in self.deep]
        change = {"data-change": chip.change}
        texts = [
            (text, written({**data, **change} if "data-days" in data else data))
            for text, data in self.deep
        ]
        return [*texts, (f"{chip.title}.", Markup())]


class PageChanges:
    """All changes of one page; `against` is the filter that stands beside its own, if any."""

    def __init__(self, against: str = "") -> None:
        self._against = against
        self._chips: list[Chip] = []
        self._believed: set[int] | None = None

    def believes(self, chip: Chip) -> bool:
        """Whether the change stands among all of the page. The first question closes the list."""
        if self._believed is None:
            tested = [(id(each), each.p_value) for each in self._chips if each.p_value is not None]
            stands = statistics.benjamini_hochberg([p_value for _, p_value in tested], _LEVEL)
            self._believed = {
                key for (key, _), is_one in zip(tested, stands, strict=True) if is_one
            }
        return id(chip) in self._believed

    def cell(
        self,
        figure: Value,
        unit: str = "count",
        currency: str = "",
        without: str = "no one yet",
        *,
        name: str = "",
        is_loss: bool = False,
        is_exact: bool = False,
        is_nothing: bool = False,
    ) -> Cell:
        """Make the cell of a figure: money in minor units. More of a loss is worse. `name` is the API's."""

        def text(side: Any, *, exact: bool = False) -> str:
            value = number(side)
            return "" if value is None else formatting.figure(value, unit, currency, exact)

        def data_of(side: Any) -> dict[str, Any]:
            return {"data-figure": name, "data-value": api(side)} if name else {}

        def api(side: Any) -> Any:
            """The number as answers have it."""
            value = number(side) or 0
            if unit == "spend":
                return value / minor_units(currency)
            return value / 10_000 if unit == "return" else value

        pair, before, data = figure.pair, figure.before, data_of(figure.now)
        deep, reach = _reach(figure, unit)
        if is_nothing:
            return Cell("", without, data, reach=reach)
        if not pair or (pair.is_alone and not figure.is_aged):
            return Cell(text(figure.now, exact=is_exact), without, data, None, deep, reach)
        chip = self._chip(figure, unit, currency, is_loss=is_loss)
        days: dict[str, Any] = {"data-within": pair.within}
        usual = _usual(figure, pair)
        if usual is not None:
            days["data-usual"] = api(usual)
        if number(before) is not None:
            days |= {"data-before": api(before), "data-days": pair.days_text}
            days |= _against(pair.against) or {"data-days-before": pair.before_text}
            deep.append((f"{pair.beside or 'before'} {text(before)}", {}))
        elif figure.is_aged and pair.has_days:
            days["data-days"] = pair.days_text
        if figure.is_aged:
            # One rate on all pages: of those who are old enough. Others stand in the depth.
            deep.insert(0, (f"{pair.label}, by those who have had so long", {}))
            if number(figure.now) is not None:
                deep.append((f"to date: {text(figure.now)}", data))
            is_young = pair.reason == TOO_YOUNG
            reason = pair.sentence if is_young else without
            data = (data if is_young else data_of(figure.fair)) | days
            return Cell(text(figure.fair), reason, data, chip, deep, reach, is_aged=True)
        has_own = number(before) is not None and not pair.is_shown
        if has_own:
            own = f"{pair.label}: {text(figure.fair) or '—'}"
            deep.insert(len(deep) - 1, (own, data_of(figure.fair) | days))
        else:
            data |= days
        return Cell(text(figure.now, exact=is_exact), without, data, chip, deep, reach, has_own)

    def beside(self, figure: Value, *how: Any, **more: Any) -> Cell:
        """The figure under the other filter, with what `cell` takes."""
        cell, data = self.cell(figure.beside(), *how, **more), _against(self._against)
        if figure.is_aged and figure.pair and figure.pair.has_days:
            data |= {"data-days": figure.pair.days_text, "data-within": figure.pair.within}
        return replace(cell, data={**cell.data, **data} if cell.data else {})

    def _chip(self, figure: Value, unit: str, currency: str, *, is_loss: bool) -> Chip | None:
        pair = figure.pair
        assert pair
        if pair.is_alone:
            return None
        usual = _usual(figure, pair)
        if usual is not None:
            text = formatting.figure(usual, unit, currency)
            weekday = formatting.weekday(day_date(pair.days.first))
            told = f"{pair.sentence}; a whole {weekday} usually has {text}"
            return Chip(self, pair.reason, f"usually {text}", told)
        if pair.reason:
            return Chip(self, pair.reason, _DASH, pair.sentence)
        fair, before = number(figure.fair), number(figure.before)
        if isinstance(figure.now, tuple):
            if fair is None:
                return Chip(self, FEW, "", "as before")
            if before is None or figure.fewest < statistics.FEW:
                people = formatting.count(figure.fewest)
                return Chip(self, FEW, "few", f"too few to compare: {people}")
        if before is None or fair is None:
            told = f"no such figure of {pair.beside}" if pair.beside else "no such figure before"
            return Chip(self, NOT_COMPARED, _DASH, told)
        if self._believed is not None:
            raise RuntimeError("the page's verdicts are made: make all cells before it is drawn")
        size, p_value, rises = _size(fair, before, unit), figure.p_value, fair > before
        if not size:
            chip = Chip(self, "", "", f"as {pair.beside or 'before'}", p_value=p_value)
        else:
            moved = f"{size} points" if unit == "percent" else size
            told = f"{'up' if rises else 'down'} {moved}"
            if pair.beside:
                told = f"{moved} {'above' if rises else 'below'} {pair.beside}"
            chip = Chip(self, "", size, told, rises, not is_loss, p_value)
            if p_value is None:
                chip = Chip(self, NO_VERDICT, _DASH, f"{told}, no verdict")
        self._chips.append(chip)
        return chip


def _against(against: str) -> dict[str, Any]:
    """The attribute that names the other filter, whose value comes from outside."""
    return {"data-against": escape(against)} if against else {}


def _size(fair: Any, before: Any, unit: str) -> str:
    """How much a figure has changed; "" where that is nothing worth a digit."""
    if unit == "percent":
        points = round(abs(fair - before), 1)
        return formatting.decimal(points, 1) if points else ""
    if not before:
        return "from nothing" if fair else ""
    share = round(100 * abs(fair - before) / abs(before))
    return formatting.percent(share) if share else ""


def _usual(figure: Value, pair: Pair) -> int | None:
    """The figure of a whole day, as it usually is on the weekday of one that is not over."""
    if pair.reason != NOT_COMPARED or figure.noise is None:
        return None
    return round(figure.noise.of_days(pair.days.first, 1))


def _reach(
    figure: Value, unit: str
) -> tuple[list[tuple[str, Attributes]], tuple[float, float, float] | None]:
    """The people behind a rate, and how far chance moves it, in words; and its interval, where it is wide."""
    if not isinstance(figure.shown, tuple) or not figure.shown[1]:
        return [], None
    hits, trials = figure.shown
    interval = statistics.of_rate(hits, trials)
    counts = f"{formatting.count(hits)} of {formatting.count(trials)}"
    deep: list[tuple[str, Attributes]] = [
        (f"{counts}; chance moves it from {formatting.interval(interval)}", {})
    ]
    low, high = 100 * interval.low, 100 * interval.high
    if unit != "percent" or high - low < _WIDE:
        return deep, None
    return deep, (round(low, 1), round(min(100 * hits / trials, 100), 1), round(high, 1))
