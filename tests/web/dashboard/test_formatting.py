"""Numbers, money and dates in the language of the browser."""

from datetime import date

import pytest
from flask import Flask

from web.dashboard import formatting
from web.dashboard.statistics import Interval

APP = Flask(__name__)


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        (
            "en-US,en;q=0.8",
            [
                "1,234,567",
                "$1,234,568",
                "€999.50",
                "$0.05",
                "¥123,456",
                "12.3%",
                "+2.5 points",
                "Mar 1, 2026",
                "1.2% to 3%",
            ],
        ),
        (
            "de-DE",
            [
                "1.234.567",
                "1.234.568 $",
                "999,50 €",
                "0,05 $",
                "123.456 ¥",
                "12,3 %",
                "+2,5 points",
                "01.03.2026",
                "1,2 % to 3 %",
            ],
        ),
        ("xx, tlh;q=0.5", ["1,234,567", "$1,234,568"]),
        ("", ["1,234,567", "$1,234,568"]),
        # The tenth is looked at, the eleventh not.
        (",".join([*(f"q{number}" for number in range(9)), "de"]), ["1.234.567", "1.234.568 $"]),
        (",".join([*(f"q{number}" for number in range(10)), "de"]), ["1,234,567", "$1,234,568"]),
    ],
)
def test_languages(language: str, texts: list[str]) -> None:
    with APP.test_request_context(headers={"Accept-Language": language}):
        found = [
            formatting.count(1234567),
            formatting.money(123456789, "USD"),
            formatting.money(99950, "EUR"),
            formatting.money(5, "USD"),
            formatting.money(123456, "JPY"),
            formatting.percent(12.34),
            formatting.signed_points(2.5),
            formatting.day(date(2026, 3, 1)),
            formatting.interval(Interval(0.012, 0.03)),
        ]
    plain = [text.replace("\xa0", " ").replace("\u202f", " ") for text in found]
    assert plain[: len(texts)] == texts


def test_an_exact_amount_has_its_minor_units() -> None:
    with APP.test_request_context(headers={"Accept-Language": "en"}):
        assert formatting.money(123456789, "USD", exact=True) == "$1,234,567.89"
        assert formatting.amount(1234.5, "EUR") == "€1,234"
        assert formatting.amount(12.345, "KWD") == "KWD12.345"


@pytest.mark.parametrize("value", [0, 0.04, -0.04])
def test_a_change_that_is_not_shown_has_no_sign(value: float) -> None:
    with APP.test_request_context(headers={"Accept-Language": "en"}):
        assert formatting.signed_points(value) == "0 points"


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 s"),
        (49, "0 s"),
        (42_345, "42.3 s"),
        (59_949, "59.9 s"),
        (59_951, "1 min"),
        (200_000, "3 min 20 s"),
        (3_599_499, "59 min 59 s"),
        (3_599_500, "1 h"),
        (3_900_000, "1 h 5 min"),
        (3_600_000_000, "1,000 h"),
    ],
)
def test_durations(ms: float, text: str) -> None:
    with APP.test_request_context(headers={"Accept-Language": "en"}):
        assert formatting.duration(ms) == text


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        (
            "en-US",
            [
                "0",
                "250,000",
                "1.5M",
                "$0",
                "$2,500",
                "-$5",
                "$0.50",
                "$2M",
                "¥500",
                "Mar 9",
                "Mar 2026",
            ],
        ),
        (
            "de-DE",
            ["0", "250.000", "1,5 Mio.", "0 $", "2.500 $", "-5 $", "0,50 $", "2 Mio. $", "500 ¥"]
            + ["9. März", "März 2026"],
        ),
    ],
)
def test_round_values_of_an_axis(language: str, texts: list[str]) -> None:
    with APP.test_request_context(headers={"Accept-Language": language}):
        said = [
            *(formatting.short_count(number) for number in (0, 250_000, 1_500_000)),
            *(
                formatting.short_money(cents, "USD")
                for cents in (0, 250_000, -500, 50, 200_000_000)
            ),
            formatting.short_money(500, "JPY"),
            formatting.short_day(date(2026, 3, 9)),
            formatting.month(date(2026, 3, 9)),
        ]
    assert [text.replace("\N{NO-BREAK SPACE}", " ") for text in said] == texts


@pytest.mark.parametrize(
    ("language", "tag"), [("de-AT", "de-AT-u-nu-latn"), ("zh-Hans-CN", "zh-Hans-CN-u-nu-latn")]
)
def test_the_language_for_a_browser(language: str, tag: str) -> None:
    with APP.test_request_context(headers={"Accept-Language": language}):
        assert formatting.language_tag() == tag
