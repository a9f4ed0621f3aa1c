"""Intervals and tests of rates, beside values that their authors published and beside plain sums."""

from itertools import product
from math import comb, exp, isclose, lgamma, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from web.dashboard.statistics import (
    FEWEST_DAYS,
    NOISE_DAYS,
    Noise,
    Z,
    benjamini_hochberg,
    noise_of,
    of_difference,
    of_rate,
    p_changed,
    p_greater,
    student_p,
)


def rounded(interval: object) -> tuple[float, float]:
    return round(interval.low, 4), round(interval.high, 4)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998), 857-872, table I, method 3.
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson(hits: int, trials: int, low: float, high: float) -> None:
    assert rounded(of_rate(hits, trials)) == (low, high)


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998), 873-890, table II, method 10.
    [
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((6, 7, 2, 7), 0.0582, 0.8062),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((0, 10, 0, 20), -0.1611, 0.2775),
        ((10, 10, 0, 20), 0.6791, 1.0),
    ],
)
def test_newcombe(counts: tuple[int, int, int, int], low: float, high: float) -> None:
    assert rounded(of_difference(*counts)) == (low, high)


def test_nothing_is_known_without_trials() -> None:
    assert rounded(of_rate(0, 0)) == (0.0, 1.0)
    assert of_difference(0, 0, 5, 9).has_zero


@given(st.integers(1, 10_000), st.data())
def test_a_rate_lies_in_its_interval(trials: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, trials))
    interval = of_rate(hits, trials)
    assert 0 <= interval.low <= hits / trials + 1e-12
    assert hits / trials - 1e-12 <= interval.high <= 1
    assert of_difference(hits, trials, hits, trials).has_zero


def test_the_lady_tasting_tea() -> None:
    # R. A. Fisher, The Design of Experiments (1935): three of four cups right. His tail of 17 / 70 has
    # 16 / 70 of it at the observed number; half of that counts.
    assert isclose(p_greater(3, 4, 1, 4), 9 / 70)


COUNTS = st.integers(1, 200).flatmap(
    lambda trials: st.tuples(st.integers(0, trials), st.just(trials))
)


@given(COUNTS, COUNTS)
def test_the_p_value_is_the_plain_sum(one: tuple[int, int], other: tuple[int, int]) -> None:
    (hits, trials), (other_hits, other_trials) = one, other
    both = hits + other_hits

    def ways(number: int) -> int:
        return comb(trials, number) * comb(other_trials, both - number) if number <= both else 0

    beyond = sum(ways(number) for number in range(hits + 1, trials + 1))
    expected = (2 * beyond + ways(hits)) / (2 * comb(trials + other_trials, both))
    assert isclose(p_greater(*one, *other), expected, rel_tol=1e-9, abs_tol=1e-12)
    assert isclose(p_greater(*one, *other) + p_greater(*other, *one), 1)
    if hits < trials:
        assert p_greater(hits + 1, trials, *other) < p_greater(*one, *other) + 1e-12


def test_counts_that_prove_nothing() -> None:
    assert p_greater(0, 0, 5, 9) == p_greater(5, 9, 0, 0) == 1
    # More submissions than views, some of which were on the day before: as many.
    assert p_greater(31, 30, 40, 40) == 0.5
    # So far beyond chance that no float is as small.
    assert p_greater(20_000, 20_000, 0, 20_000) == 0


SIZES = (30, 50, 100, 300, 1_000, 5_000, 20_000)
RATES = (0.01, 0.02, 0.05, 0.1, 0.3, 0.6)


@pytest.mark.parametrize("level", [0.05, 0.005, 0.0005])
def test_equal_rates_are_called_greater_as_seldom_as_the_level_says(level: float) -> None:
    """By the exact probability of each pair of counts, for samples of up to four times the other's size, as
    weeks of one shop are; and for any."""
    for (trials, other), rate in product(product(SIZES, SIZES), RATES):
        called = how_often_greater(trials, other, rate, level)
        assert called <= level * (1.1 if max(trials, other) <= 4 * min(trials, other) else 1.6)


def how_often_greater(trials: int, other_trials: int, rate: float, level: float) -> float:
    numbers, others = numbers_of(trials, rate), numbers_of(other_trials, rate)
    # The least hits that are called greater grow with the other hits.
    called, hits, at_least = 0.0, min(numbers), sum(numbers.values())
    for other_hits, probability in others.items():
        while hits in numbers and p_greater(hits, trials, other_hits, other_trials) > level:
            at_least -= numbers[hits]
            hits += 1
        called += probability * max(at_least, 0.0)
    return called


def numbers_of(trials: int, rate: float) -> dict[int, float]:
    """The probabilities of the numbers of hits, but for those that never happen."""
    middle, reach = trials * rate, 8 * sqrt(trials * rate * (1 - rate)) + 20
    hits = range(max(0, int(middle - reach)), min(trials, int(middle + reach)) + 1)
    ways = [lgamma(trials + 1) - lgamma(n + 1) - lgamma(trials - n + 1) for n in hits]
    return {
        n: exp(way + n * log(rate) + (trials - n) * log(1 - rate))
        for n, way in zip(hits, ways, strict=True)
    }


def test_benjamini_and_hochberg_s_own_example() -> None:
    # J. R. Statist. Soc. B 57 (1995), 3.2: fifteen p-values, of which the four smallest are believed.
    p_values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459]
    p_values += [0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000]
    assert benjamini_hochberg(p_values) == [True] * 4 + [False] * 11
    assert benjamini_hochberg([]) == []
    # The greater one is not above its own threshold, and takes the smaller one along.
    assert benjamini_hochberg([0.05, 0.03]) == [True, True]
    assert benjamini_hochberg([0.051, 0.03]) == [False, False]


P_VALUES = st.lists(st.one_of(st.floats(0, 1), st.floats(0, 0.05)), min_size=1, max_size=40)


@given(P_VALUES, st.data())
def test_many_rates(p_values: list[float], data: st.DataObject) -> None:
    believed = benjamini_hochberg(p_values)
    order = data.draw(st.permutations(range(len(p_values))))
    shuffled = benjamini_hochberg([p_values[place] for place in order])
    assert shuffled == [believed[place] for place in order]
    # Stronger evidence for one of them makes no other one less believed.
    place = data.draw(st.integers(0, len(p_values) - 1))
    stronger = [*p_values]
    stronger[place] *= data.draw(st.floats(0, 1))
    assert all(
        now or not was for now, was in zip(benjamini_hochberg(stronger), believed, strict=True)
    )
    # Bonferroni believes no other ones.
    assert all(one for one, p in zip(believed, p_values, strict=True) if p <= 0.05 / len(p_values))
    assert not any(one for one, p in zip(believed, p_values, strict=True) if p > 0.05)


@pytest.mark.parametrize(
    ("t", "freedom", "p"),
    # Quantiles of Student's t as tables have them: 97.5 %, 99.5 %, 99.9 %.
    [
        (12.706, 1, 0.05),
        (2.145, 14, 0.05),
        (2.010, 49, 0.05),
        (2.680, 49, 0.01),
        (3.552, 20, 0.002),
    ],
)
def test_student(t: float, freedom: int, p: float) -> None:
    assert student_p(t, freedom) == pytest.approx(p, rel=0.01)
    assert student_p(-t, freedom) == student_p(t, freedom)


def test_weekdays_are_no_change() -> None:
    """Every Sunday has ten times as much: 8 days with two Sundays are as usual beside 8 with one."""
    days = [float(1000 if day % 7 == 0 else 100 + day % 3) for day in range(100, 100 + NOISE_DAYS)]
    noise = noise_of(100, days)
    assert noise
    last = 100 + NOISE_DAYS
    with_two = next(
        first for first in range(last - 20, last - 8) if first % 7 == 6 or first % 7 == 0
    )
    now = sum(days[with_two - 100 : with_two - 92])
    before = sum(days[with_two - 108 : with_two - 100])
    p_value = p_changed(noise, now, before, with_two, with_two - 8, 8)
    assert p_value is not None
    assert p_value > 0.05


def test_a_usual_day_is_that_of_its_weekday() -> None:
    noise = Noise((100.0, 40.0, 4.0, 0.0, 0.0, 0.0, 0.0), 10.0, 49)
    assert noise.usual_day(7) == pytest.approx((100 - Z * 10, 100 + Z * 10))
    assert noise.usual_day(8) == pytest.approx((40 - Z * 10, 40 + Z * 10))
    # Nothing is less than nothing.
    assert noise.usual_day(2) == pytest.approx((0, 4 + Z * 10))
    # Counts move by chance at least as much as Poisson's.
    still = Noise((100.0,) * 7, 0.0, 49)
    assert still.usual_day(0, is_count=True) == pytest.approx((100 - Z * 10, 100 + Z * 10))
    assert still.usual_day(0) == (100, 100)


def test_too_few_days_say_nothing() -> None:
    assert noise_of(0, [1.0, 2.0] * 10) is None
    assert noise_of(0, [1.0, 2.0, 3.0] * (FEWEST_DAYS // 3))


def test_days_that_are_all_the_same_are_no_measure() -> None:
    none = noise_of(0, [0.0] * NOISE_DAYS)
    assert none
    assert p_changed(none, 0, 500, 50, 43, 7) is None
    # Counts have Poisson's noise at least: one order after none is no sensation.
    one = p_changed(none, 1, 0, 50, 43, 7, is_count=True)
    assert one is not None
    assert one > 0.2


def test_so_much_more_for_so_much_more_spend_is_no_change() -> None:
    values = [100.0 + 10 * (day % 5) for day in range(NOISE_DAYS)]
    noise = noise_of(0, values)
    assert noise
    twice = p_changed(noise, 1680, 840, 49, 42, 7, scale=2.0)
    assert twice is not None
    assert twice > 0.5
    assert (p_changed(noise, 1680, 840, 49, 42, 7) or 1) < 0.001


@pytest.mark.parametrize("kind", ["weekdays", "large orders", "overdispersed"])
def test_money_that_does_not_change_is_within_chance(kind: str) -> None:
    """200 shops, of each a week and 30 days; at most 5 % each way, with two standard errors."""
    chance = np.random.default_rng(7)
    more = fewer = 0
    for _ in range(200):
        level = np.array([1, 1, 0.9, 1, 1.1, 1.6, 1.8])[np.arange(60) % 7]
        if kind == "overdispersed":
            level = level * chance.gamma(5, 0.2, 60)
        orders = chance.poisson(8 * level)
        sizes = [chance.lognormal(4, 0.8, count) for count in orders]
        if kind == "large orders":
            sizes = [each * (1 + 10 * (chance.random(len(each)) < 0.03)) for each in sizes]
        money = np.array([each.sum() for each in sizes])
        noise = noise_of(4, money[-NOISE_DAYS:].tolist())
        assert noise
        for days in (7, 30):
            now, before = money[-days:].sum(), money[-2 * days : -days].sum()
            p_value = p_changed(noise, now, before, 60 - days, 60 - 2 * days, days)
            assert p_value is not None
            more += p_value < 0.05 and now > before
            fewer += p_value < 0.05 and now < before
    assert max(more, fewer) / 400 <= 0.05 + 2 * sqrt(0.05 * 0.95 / 400)
