"""The table of measurements, with floor, ratio and goal beside each."""

from collections.abc import Iterable
from typing import Any

import click

_BESIDE = ("floor", "ratio", "goal")
_MET = {True: "met", False: "missed", None: ""}


def show(rows: Iterable[dict[str, Any]]) -> None:
    """Print rows in the form of `Row.as_dict()`."""
    click.echo(f"{'':<40}{'measured':>12} {'':<8}{'floor, peer':>12}{'ratio':>9}  {'goal':<12}")
    for one in rows:
        floor, ratio, goal = ("" if one[name] is None else one[name] for name in _BESIDE)
        click.echo(
            f"{one['what']:<40}{_number(one['value']):>12} {one['unit']:<8}{_number(floor):>12}"
            f"{ratio:>9}  {goal:<12}{_MET[one['met']]}"
        )


def _number(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
