"""Shops in which nothing changes, day by day, and what a page would say of two ranges of theirs.

`python -m tests.web.dashboard.still_shops` prints in how many of 1,000 views of each page a change has a
colour (50 are allowed), for a shop of the demo's size, one ten times smaller, one with a tail of large
orders, and one whose days differ by more than chance; and how often a fall of revenue by a third over two
weeks is found, and a form that is submitted by a fifth less. Customers compares no ranges and is not among
the pages. `still_weeks.py` looks at the pages themselves.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from flask import Flask

from jobs.demo.cast import FORMS
from warehouse.domain.time import day_date
from web.dashboard.changes import DOWN, UP, PageChanges
from web.dashboard.compare import Pair, Value
from web.dashboard.statistics import NOISE_DAYS, Noise, noise_of
from web.http.date_range import parse_range

Days = npt.NDArray[Any]
"""A number for each day, or for each day and each of something."""

APP: Final = Flask(__name__)
TODAY: Final = 20_000
DAYS: Final = 60
VIEWS: Final = 1_000
# Monday to Sunday, as the demo has them.
_WEEKDAYS: Final = np.array([1.02, 0.97, 0.95, 0.98, 1.04, 1.1, 0.94])
_FORMS: Final = tuple(form for form in FORMS if form.share)
_SUBMITTED: Final = np.array([0.4, 0.25, 0.12, 0.07, 0.05, 0.1])[: len(_FORMS)]
_CAMPAIGNS: Final = np.array([0.38, 0.2, 0.1, 0.08, 0.07, 0.06, 0.04, 0.03, 0.03, 0.01])
_BOUGHT: Final = 0.2
# Orders that no form brought, beside those that one did.
_OTHER: Final = 0.65
_RETURNING: Final = 0.25
_LEFT: Final = np.array([0.12, 0.2, 0.08, 0.3, 0.1, 0.05])
_ANSWERS: Final = 20


@dataclass(frozen=True)
class Shop:
    """`visits` a day. `tail` is the share of orders that are of a large kind, ten times as much as others and
    more; `spread` the standard deviation of a day's visits beside their mean, beyond chance."""

    visits: float = 430
    tail: float = 0.0
    spread: float = 0.05

    def history(
        self, chance: np.random.Generator, fall: float = 1.0, fallen: int = 0, lost: float = 1.0
    ) -> "History":
        """`DAYS` days before today; on the last `fallen` days, `fall` times as much is bought, and the first
        form is submitted `lost` times as often."""
        weekdays = _WEEKDAYS[(TODAY - DAYS + np.arange(DAYS)) % 7]
        level = weekdays * chance.gamma(1 / self.spread**2, self.spread**2, DAYS)
        shares = np.array([form.share for form in _FORMS])
        views = chance.poisson(self.visits * level[:, None] * shares)
        has_fallen = np.arange(DAYS) >= DAYS - fallen
        rates = np.tile(_SUBMITTED, (DAYS, 1))
        rates[has_fallen, 0] *= lost
        submitted = chance.binomial(views, rates)
        falls = np.where(has_fallen, fall, 1.0)
        bought = chance.binomial(submitted, _BOUGHT * falls[:, None])
        others = chance.poisson(_OTHER * bought.sum(1).mean() * weekdays * falls)
        by_form = np.stack([self._money(chance, bought[:, each]) for each in range(len(_FORMS))], 1)
        return History(views, submitted, bought, by_form, others, self._money(chance, others))

    def _money(self, chance: np.random.Generator, orders: npt.NDArray[np.int64]) -> Days:
        """The sum of so many orders a day, in cents."""
        each = chance.lognormal(8.6, 0.6, int(orders.sum()))
        is_large = chance.random(len(each)) < self.tail
        each[is_large] *= 10 * (1 + chance.pareto(1.5, is_large.sum()))
        return np.bincount(np.repeat(np.arange(DAYS), orders), each.round(), DAYS)


@dataclass(frozen=True)
class History:
    views: npt.NDArray[np.int64]
    submitted: npt.NDArray[np.int64]
    bought: npt.NDArray[np.int64]
    by_form: Days
    others: npt.NDArray[np.int64]
    other_money: Days


SHOPS: Final = {
    "as the demo": Shop(),
    "ten times smaller": Shop(visits=43),
    "a tail of large orders": Shop(tail=0.02),
    "overdispersed days": Shop(spread=0.3),
}


def pages(
    history: History, days: int, chance: np.random.Generator
) -> Iterator[tuple[str, list[Value]]]:
    """The changes that each page compares, of the last `days` days beside those before."""
    pair = _pair(days)

    def amount(values: Days, *, is_count: bool = False) -> Value:
        now, before = values[-days:].sum(), values[-2 * days : -days].sum()
        return Value(now, now, before, pair, noise(values), is_count)

    def rate(hits: Days, trials: Days) -> Value:
        sides = [
            (int(hits[part].sum()), int(trials[part].sum()))
            for part in (slice(-days, None), slice(-2 * days, -days))
        ]
        now, before = sides
        return Value(now, now, before, pair)

    def split(values: Days, shares: Days) -> list[Days]:
        """Money by campaigns: each day is divided as its orders would be."""
        parts = chance.dirichlet(shares * 40, len(values))
        return list((values[:, None] * parts).T)

    credited, submitted = history.by_form.sum(1), history.submitted.sum(1)
    net = credited + history.other_money
    forms: list[Value] = []
    for each in range(len(_FORMS)):
        forms += [
            amount(history.by_form[:, each]),
            rate(history.submitted[:, each], history.views[:, each]),
            rate(history.bought[:, each], history.submitted[:, each]),
        ]
    total: list[Value] = [
        amount(credited),
        rate(submitted, history.views.sum(1)),
        rate(history.bought.sum(1), submitted),
    ]
    campaigns = [amount(part) for part in split(net, _CAMPAIGNS)]
    customers = [amount(part) for part in split(net, np.array([1 - _RETURNING, _RETURNING]))]
    yield (
        "Overview",
        [
            amount(net),
            amount(submitted, is_count=True),
            *total,
            *total,
            *forms,
            *customers,
            campaigns[1],
        ],
    )
    yield "Forms", [*forms, *total]
    steps = []
    reached = history.views[:, 0]
    for left in _LEFT:
        gone = chance.binomial(reached, left)
        steps.append(rate(gone, reached))
        reached = reached - gone
    answers = [
        rate(chance.binomial(part, _BOUGHT), part)
        for part in (
            chance.binomial(history.submitted[:, 0], share)
            for share in np.linspace(0.05, 0.6, _ANSWERS)
        )
    ]
    yield "One form", [*forms[:3], *steps, *answers]
    types = [amount(part) for part in split(credited, np.array([0.3, 0.5, 0.2]))]
    yield "Revenue", [*types, amount(history.other_money), amount(net), *campaigns, *campaigns[:7]]
    yield "Ads", [*campaigns[1:9], *campaigns[1:9]]


def noise(values: Days) -> Noise | None:
    return noise_of(TODAY - NOISE_DAYS, values[-NOISE_DAYS:].tolist())


def _pair(days: int) -> Pair:
    def window(last: int) -> str:
        return f"{day_date(last - days + 1)}..{day_date(last)}"

    now, before = (
        parse_range(window(last), TODAY, "UTC") for last in (TODAY - 1, TODAY - days - 1)
    )
    return Pair(now, before, is_shown=True)


def coloured(figures: list[Value]) -> list[str]:
    """The words of the changes that have a colour, as the cells of one page."""
    changes = PageChanges()
    with APP.test_request_context():
        cells = [
            changes.cell(each, "percent" if isinstance(each.now, tuple) else "count")
            for each in figures
        ]
        words = [cell.chip.change for cell in cells if cell.chip]
    return [word for word in words if word in (UP, DOWN)]


def views_with_colour(shop: Shop, views: int, chance: np.random.Generator) -> dict[str, int]:
    """In how many views of each page any change has a colour: of 7 and of 30 days in turn."""
    found: dict[str, int] = {}
    for view in range(views):
        history = shop.history(chance)
        for page, figures in pages(history, (7, 30)[view % 2], chance):
            found[page] = found.get(page, 0) + bool(coloured(figures))
    return found


def of_views(views: float, form: int | None = None) -> Shop:
    """A shop with so many views a week; of a form, if one is given."""
    share = 1.0 if form is None else _FORMS[form].share
    return Shop(visits=views / 7 / share)


def losses_found(shop: Shop, views: int, chance: np.random.Generator) -> int:
    """How often the page of a form says that it was submitted by a fifth less for a week."""
    found = 0
    for _ in range(views):
        history = shop.history(chance, fallen=7, lost=0.8)
        figures = dict(pages(history, 7, chance))["One form"]
        found += DOWN in coloured(figures)
    return found


def falls_found(shop: Shop, views: int, chance: np.random.Generator) -> int:
    """How often the overview says that revenue fell by a third over two weeks."""
    found = 0
    for _ in range(views):
        history = shop.history(chance, 2 / 3, 14)
        found += DOWN in coloured(dict(pages(history, 14, chance))["Overview"])
    return found


def main() -> None:
    chance = np.random.default_rng(1)
    for name, shop in SHOPS.items():
        print(
            name,
            views_with_colour(shop, VIEWS, chance),
            f"falls: {falls_found(shop, 100, chance)} %",
        )
    for views in (1_000, 5_000, 20_000):
        print(
            f"{views:,} views a week: revenue by a third for two weeks",
            f"{falls_found(of_views(views), 100, chance)} %; the form by a fifth for a week",
            f"{losses_found(of_views(views, 0), 100, chance)} %",
        )


if __name__ == "__main__":
    main()
