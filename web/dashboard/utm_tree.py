"""All orders of a shop as a tree by UTM: source, campaign, medium, term, content."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from web.api.row_limit import OTHER
from web.dashboard.comparable import Pair
from web.dashboard.compare import Amount, ComparedRows, Line, Rows

_LEVELS: Final = ("source", "campaign", "medium", "term", "content")
# Branches on the page; the others are summed where they grow.
_BRANCHES: Final = 150

Path = tuple[str, ...]


@dataclass
class Branch:
    """A value of a level ("" for none) with all orders below it; money is in minor units. `below` has the
    branches with most net revenue, `left_out` the others. `compared` is its net revenue of the days of a
    pair, and before."""

    level: str
    value: str
    orders: int = 0
    net: int = 0
    compared: tuple[int | None, int | None, Pair] | None = None
    below: list["Branch"] = field(default_factory=list)
    left_out: list["Branch"] = field(default_factory=list)

    @property
    def amount(self) -> Amount:
        fair, before, pair = self.compared or (None, None, None)
        return Amount(self.net, fair, before, pair)

    @property
    def left_out_orders(self) -> int:
        return sum(branch.orders for branch in self.left_out)

    @property
    def left_out_net(self) -> int:
        return sum(branch.net for branch in self.left_out)


def utm_tree(report: ComparedRows) -> Branch:
    """The root, whose orders are those of the shop."""
    paths = _branches(report.now)
    pair = report.pair_of("netRevenueCents")
    if pair and not pair.reason:
        fair, before = map(_branches, report.read(pair))
        for path, branch in paths.items():
            branch.compared = _net(fair, path), _net(before, path), pair
    elif pair:
        paths[()].compared = 0, None, pair
    root = paths[()]
    for path in sorted(paths, key=len, reverse=True):
        branch = paths[path]
        branch.below.sort(key=lambda child: (-child.net, child.value))
        if branch is not root and not any(child.value or child.below for child in branch.below):
            # Nothing is known further down.
            branch.below = []
    _trim(root)
    return root


def _net(paths: dict[Path, Branch], path: Path) -> int | None:
    """A branch that is not among them has nothing, or can be in their sum of others."""
    if OTHER in path or (path not in paths and (OTHER,) in paths):
        return None
    return paths[path].net if path in paths else 0


def _branches(rows: Rows) -> dict[Path, Branch]:
    """The branches by their path; that of the root is ()."""
    root = Branch("", "")
    paths: dict[Path, Branch] = {(): root}
    for row in rows:
        path: Path = ()
        branch = root
        _add(branch, row)
        for level in _LEVELS:
            value = row[f"utm{level.capitalize()}"]
            path, parent = (*path, value), branch
            if path not in paths:
                paths[path] = Branch(level, value)
                parent.below.append(paths[path])
            branch = paths[path]
            _add(branch, row)
    return paths


def _add(branch: Branch, row: Line) -> None:
    branch.orders += row["orders"]
    branch.net += row["netRevenueCents"]


def _trim(root: Branch) -> None:
    """Leave out all but the branches with most net revenue.

    A branch has no more of it than the one that it grows from, which comes first: none is left in the air.
    """
    ranked = sorted(_downwards(root), key=lambda branch: -branch.net)
    shown = {id(branch) for branch in ranked[: _BRANCHES + 1]}
    for branch in ranked:
        branch.left_out = [child for child in branch.below if id(child) not in shown]
        branch.below = [child for child in branch.below if id(child) in shown]


def _downwards(root: Branch) -> Iterator[Branch]:
    """The root, then its branches, then theirs."""
    waiting = deque([root])
    while waiting:
        branch = waiting.popleft()
        yield branch
        waiting += branch.below
