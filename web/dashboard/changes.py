"""START HERE for verdicts: cells of figures, and which of a page's changes chance does not explain.

`PageChanges.cell` is the one way from a figure to what a page shows of it. It takes the change into the
page's list, and a verdict is made of all of them together (Benjamini and Hochberg): where nothing has
changed, at most one page in twenty shows a colour. So every cell of a page exists before its template draws
the first.

Programs read a page as well. Each figure has the name and the number of the API (`data-figure`,
`data-value`). One that is set beside a former figure says in the same element how it changed
(`data-change`), the former number (`data-before`), the days of both (`data-days`, `data-days-before`) and
the days to buy (`data-within`). Where the days that are shown are not all compared, the compared figure is
an element of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from markupsafe import Markup

from warehouse.domain.currencies import minor_units
from web.dashboard import formatting
from web.dashboard.comparable import NO_DATA, NOT_COMPARED, TOO_YOUNG, Pair
from web.dashboard.compare import Amount, Rate
from web.dashboard.statistics import benjamini_hochberg

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
_CHANCE: Final = "chance explains it"
_SIGNS: Final = {True: "▲", False: "▼"}


def written(data: Attributes) -> Markup:
    """Attributes as they stand in an element. Their values are numbers, days and names of this program:
    nothing in them has to be escaped."""
    return Markup(
        "".join(f' {name}="{value}"' for name, value in data.items() if value is not None)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Chip:
    """The change beside a figure. `size` is how much, as a text without a sign (`13%`, of a rate its
    points); `rises` whether it is more, None where it is as much as before; `is_good` whether more is
    better. `p_value` is that of the change, None where nothing is known of its noise; `word` says why there
    is no verdict: a value of `data-change`, with its `reason`."""

    family: "PageChanges"
    size: str = ""
    unit: str = ""
    rises: bool | None = None
    is_good: bool = True
    p_value: float | None = None
    word: str = ""
    reason: str = ""

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
        if self.word:
            return self.word
        if self.is_sure:
            return UP if self.rises else DOWN
        return WITHIN_CHANCE

    @property
    def tone(self) -> str:
        """The class of its colour; "" for grey."""
        if not self.is_sure:
            return ""
        return "good" if self.rises == self.is_good else "bad"

    @property
    def text(self) -> str:
        """ "" where nobody was there to be compared."""
        if self.word == FEW and not self.reason:
            return ""
        if self.word == FEW:
            return "few"
        if self.word:
            return "\N{EM DASH}"
        if self.rises is None or not self.is_sure:
            return "≈"
        return f"{_SIGNS[self.rises]} {self.size}"

    @property
    def title(self) -> str:
        """The same in words."""
        if self.reason:
            return self.reason
        if self.rises is None:
            return "as before"
        moved = f"{'up' if self.rises else 'down'} {self.size}{self.unit}"
        if self.word:
            return f"{moved}, no verdict"
        return f"{moved}, {'more than chance makes' if self.is_sure else _CHANCE}"


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure as a page shows it; `without` says why there is no `text`. `deep` are the texts that open,
    each with the attributes of its element. `reach` is the interval of a rate that is drawn: from, at, to,
    in per cent. `orders` are links to those that it is made of, each with its words."""

    text: str
    without: str = ""
    data: Attributes = field(default_factory=dict)
    chip: Chip | None = None
    deep: list[tuple[str, Attributes]] = field(default_factory=list)
    reach: tuple[float, float, float] | None = None
    has_own: bool = False
    orders: Sequence[tuple[str, str]] = ()

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
        """With the change of the compared figure, where it is not the one that is shown."""
        chip = self.chip
        last = f"{chip.title}." if chip else ""
        texts = [
            (
                text,
                written(
                    {**data, "data-change": chip.change} if chip and "data-days" in data else data
                ),
            )
            for text, data in self.deep
        ]
        return [*texts, (last, Markup())] if last else texts


class PageChanges:
    """All changes of one page."""

    def __init__(self) -> None:
        self._chips: list[Chip] = []
        self._believed: set[int] | None = None

    def believes(self, chip: Chip) -> bool:
        """Whether the change stands among all of the page. The first question closes the list."""
        if self._believed is None:
            tested = [(id(each), each.p_value) for each in self._chips if each.p_value is not None]
            stands = benjamini_hochberg([p_value for _, p_value in tested], _LEVEL)
            self._believed = {
                key for (key, _), is_one in zip(tested, stands, strict=True) if is_one
            }
        return id(chip) in self._believed

    def cell(
        self,
        figure: Amount | Rate,
        unit: str = "count",
        currency: str = "",
        without: str = "no one yet",
        *,
        name: str = "",
        is_loss: bool = False,
        is_exact: bool = False,
        is_nothing: bool = False,
    ) -> Cell:
        """Money is in minor units of the currency. More of a loss is worse. `name` is the API's."""

        def text(value: Any, *, exact: bool = False) -> str:
            return "" if value is None else formatting.figure(value, unit, currency, exact)

        def number(value: Any) -> Any:
            return _api_number(value or 0, unit, currency)

        def data_of(value: Any) -> dict[str, Any]:
            return {"data-figure": name, "data-value": number(value)} if name else {}

        pair = figure.pair
        fair, before = _sides(figure)
        if is_nothing or not pair or (pair.is_alone and not figure.is_aged):
            cell_text = "" if is_nothing else text(figure.now, exact=is_exact)
            deep = [] if is_nothing else _counts(figure)
            return Cell(cell_text, without, data_of(figure.now), None, deep, _reach(figure, unit))
        chip = self._chip(figure, unit, is_loss=is_loss)
        days: dict[str, Any] = {"data-within": pair.within}
        if before is not None:
            days |= {
                "data-before": number(before),
                "data-days": pair.days_text,
                "data-days-before": pair.before_text,
            }
        elif figure.is_aged and pair.has_days:
            days["data-days"] = pair.days_text
        former = f"before {text(before)}" if before is not None else ""
        if figure.is_aged:
            # One rate on all pages: of those who are old enough. Others stand in the depth.
            deep = _counts(figure)
            deep.append((former, {}))
            if figure.now is not None:
                deep.append((f"to date: {text(figure.now)}", data_of(figure.now)))
            reason = pair.sentence if pair.reason == TOO_YOUNG else without
            data = data_of(figure.now if pair.reason == TOO_YOUNG else fair) | days
            return Cell(text(fair), reason, data, chip, _told(deep, pair), _reach(figure, unit))
        now = text(figure.now, exact=is_exact)
        if pair.is_shown or before is None:
            deep = [*_counts(figure), (former, {})]
            data = data_of(figure.now) | days
            return Cell(now, without, data, chip, _told(deep), _reach(figure, unit))
        own = f"{pair.label}: {text(fair) or '—'}"
        deep = [*_counts(figure), (own, data_of(fair) | days), (former, {})]
        return Cell(
            now, without, data_of(figure.now), chip, _told(deep), _reach(figure, unit), True
        )

    def _chip(self, figure: Amount | Rate, unit: str, *, is_loss: bool) -> Chip | None:
        pair = figure.pair
        assert pair
        if pair.is_alone:
            return None
        if pair.reason:
            return Chip(self, word=pair.reason, reason=pair.sentence)
        fair, before = _sides(figure)
        if isinstance(figure, Rate) and (figure.is_few or fair is None or before is None):
            if fair is None:
                return Chip(self, word=FEW)
            fewest = min((side[1] for side in (figure.fair, figure.before) if side), default=0)
            return Chip(self, word=FEW, reason=f"too few to compare: {formatting.count(fewest)}")
        if before is None or fair is None:
            return Chip(self, word=NOT_COMPARED, reason="no such figure before")
        size = _size(fair, before, unit)
        p_value, rises = figure.p_value, fair > before if size else None
        word = NO_VERDICT if p_value is None and size else ""
        points = " points" if unit == "percent" else ""
        chip = Chip(self, size, points, rises, not is_loss, p_value, word)
        if self._believed is not None:
            raise RuntimeError("the page's verdicts are made: make all cells before it is drawn")
        self._chips.append(chip)
        return chip


def _size(fair: Any, before: Any, unit: str) -> str:
    """How much a figure has changed; "" where that is nothing worth a digit."""
    if unit == "percent":
        points = round(abs(fair - before), 1)
        return formatting.decimal(points, 1) if points else ""
    if not before:
        return "from nothing" if fair else ""
    share = round(100 * abs(fair - before) / abs(before))
    return formatting.percent(share) if share else ""


def _sides(figure: Amount | Rate) -> tuple[Any, Any]:
    if isinstance(figure, Rate):
        return figure.fair_rate, figure.before_rate
    return figure.fair, figure.before


def _counts(figure: Amount | Rate) -> list[tuple[str, Attributes]]:
    """The people behind a rate, and how far chance moves it."""
    if not isinstance(figure, Rate):
        return []
    hits, trials = figure.shown
    if not trials:
        return []
    interval = formatting.interval(figure.interval)
    counts = f"{formatting.count(hits)} of {formatting.count(trials)}"
    return [(f"{counts}; chance moves it from {interval}", {})]


def _told(
    deep: list[tuple[str, Attributes]], pair: Pair | None = None
) -> list[tuple[str, Attributes]]:
    told = [(text, data) for text, data in deep if text]
    if pair and pair.within:
        told.insert(0, (pair.label, {}))
    return told


def _reach(figure: Amount | Rate, unit: str) -> tuple[float, float, float] | None:
    """The interval of a rate, where it is wide."""
    if not isinstance(figure, Rate) or unit != "percent" or not figure.shown[1]:
        return None
    hits, trials = figure.shown
    low, high = 100 * figure.interval.low, 100 * figure.interval.high
    if high - low < _WIDE:
        return None
    return round(low, 1), round(min(100 * hits / trials, 100), 1), round(high, 1)


def _api_number(value: Any, unit: str, currency: str) -> Any:
    """A figure as answers have it."""
    if unit == "spend":
        return value / minor_units(currency)
    return value / 10_000 if unit == "return" else value
