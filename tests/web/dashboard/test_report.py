"""A month beside the shop's own report, as the page shows it: what the command finds."""

import pytest

from tests.support.loaded import Content
from tests.web.dashboard.two_shops import A, TwoShops, with_data


@pytest.fixture
def content() -> Content:
    return with_data


def test_a_report_is_compared(two: TwoShops) -> None:
    assert 'action="/data/report"' in two.page(A, "/data")
    page = two.page(A, "/data/report?month=2020-01&orders=2&gross=1,234.50&refunded=&net=1200")
    assert "/dashboard.css" in page
    assert "Not here" in page
    assert "This follows from their number" in page
    assert "less than its sales minus its refunds" in page
    assert 'value="1,234.50"' in page


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("month=2020-13&orders=2&gross=1", "is not a month; write it as 2026-10"),
        ("month=2020-01&orders=many&gross=1", "is not a number of orders"),
        ("month=2020-01&orders=2&gross=%3Cb%3E", "is not an amount of money"),
    ],
)
def test_figures_that_are_none(two: TwoShops, query: str, problem: str) -> None:
    assert problem in two.page(A, f"/data/report?{query}")
