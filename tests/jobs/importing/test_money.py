"""Decimal amounts as minor units: exactly."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.importing.values.errors import InvalidValue
from jobs.importing.values.money import minor_units, of_millionths


@pytest.mark.parametrize(
    ("amount", "currency", "found"),
    [
        ("12.34", "EUR", (1234, False)),
        ("0.07", "USD", (7, False)),
        ("1.1", "EUR", (110, False)),
        ("-3.5", "EUR", (-350, False)),
        ("1200", "JPY", (1200, False)),
        ("1200.00", "JPY", (1200, False)),
        ("1.234", "KWD", (1234, False)),
        ("1.2345", "CLF", (12345, False)),
        ("0.005", "EUR", (1, True)),
        ("0.00499999999999999999", "EUR", (0, True)),
        ("-0.005", "EUR", (-1, True)),
        ("1200.5", "JPY", (1201, True)),
        ("90071992547409.93", "EUR", (9007199254740993, False)),
        (Decimal("2.675"), "EUR", (268, True)),
        (2.675, "EUR", (268, True)),
        (7, "eur", (700, False)),
        ("1e2", "EUR", (10000, False)),
    ],
)
def test_amounts(amount: Any, currency: str, found: tuple[int, bool]) -> None:
    assert minor_units(amount, currency) == found


@pytest.mark.parametrize(
    ("amount", "currency", "reason"),
    [
        ("1,50", "EUR", "not a number"),
        (True, "EUR", "not a number"),
        ("NaN", "EUR", "not a number"),
        ("1e30", "EUR", "beyond 64 bits"),
        ("1", "XYZ", "not a currency of ISO 4217"),
        ("1", ["EUR"], "not a text"),
    ],
)
def test_what_is_no_amount(amount: Any, currency: Any, reason: str) -> None:
    with pytest.raises(InvalidValue, match=reason):
        minor_units(amount, currency)


@given(st.integers(0, 10**15), st.sampled_from([("JPY", 0), ("EUR", 2), ("KWD", 3)]))
def test_what_a_currency_can_say_is_never_rounded(units: int, of: tuple[str, int]) -> None:
    currency, places = of
    assert minor_units(format(Decimal(units).scaleb(-places), "f"), currency) == (units, False)


def test_a_rate_is_applied_before_anything_is_rounded() -> None:
    assert minor_units("33.33", "EUR", Fraction(92, 100)) == (3066, True)
    assert minor_units("-0.01", "EUR", Fraction(1, 2)) == (-1, True)
    assert minor_units("100.00", "JPY", Fraction(3, 2)) == (150, False)


@pytest.mark.parametrize(
    ("micros", "found"),
    [
        ("12340000", "12.340000"),
        (1, "0.000001"),
        ("-2500000", "-2.500000"),
        (0, "0.000000"),
        ("9007199254740993", "9007199254.740993"),
    ],
)
def test_millionths(micros: Any, found: str) -> None:
    assert of_millionths(micros) == found


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_millionths_keep_every_digit(micros: int) -> None:
    assert Fraction(of_millionths(micros)) * 1_000_000 == micros
