"""All orders of a shop as a tree by UTM: source, campaign, medium, term, content. Its first two levels have
the sign-ups, and what the ad campaigns cost that brought them, too."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Final

import numpy as np

from warehouse.domain.hash_ids import SEPARATOR, text_id
from warehouse.domain.vocabulary import UTM_FIELDS
from web.api.ad_campaigns import Campaign
from web.api.query import Query
from web.api.row_limit import OTHER
from web.dashboard.ads import costs
from web.dashboard.changes import Cell
from web.dashboard.compare import ComparedRow, Line, Rows, Value
from web.dashboard.daily_noise import daily_noise, orders_by_utm
from web.dashboard.page import View
from web.dashboard.statistics import Noise
from web.dashboard.table import columns_of
from web.db.dimensions import Utm
from web.reports.ads import ad_spend, campaigns_of
from web.reports.attribution import attribution
from web.reports.revenue_by_utm import CAMPAIGN, HIERARCHY, revenue_by_utm

_LEVELS: Final = ("source", "campaign", "medium", "term", "content")
# Branches on the page; the others are summed where they grow.
_BRANCHES: Final = 150
_NET: Final = "netRevenueCents"
_SOURCE, _CAMPAIGN = (UTM_FIELDS.index(f"utm_{name}") for name in _LEVELS[:2])
_ID: Final = UTM_FIELDS.index("utm_id")

# The figures of a branch, which is no row of a report: its rows have the value.
_COLUMN, _BOUGHT = (
    replace(column, figure=lambda row: row["value"], compared=True)
    for column in (
        columns_of(HIERARCHY)(_NET),
        columns_of(CAMPAIGN)("conversionRate", api=None, without="no one yet"),
    )
)

Path = tuple[str, ...]


@dataclass
class Branch:
    """A value of a level ("" for none) with all orders below it; money is in minor units. `below` has the
    branches with most net revenue, `left_out` the others. `cell` is its net revenue, `sign_ups` and `bought`
    those of its campaigns; None further down. `costs` are the spend and the return of its ad campaigns in
    each currency."""

    level: str
    value: str
    orders: int = 0
    net: int = 0
    cell: Cell | None = None
    sign_ups: int | None = None
    bought: Cell | None = None
    costs: Sequence[tuple[Cell, Cell]] = ()
    below: list["Branch"] = field(default_factory=list)
    left_out: list["Branch"] = field(default_factory=list)


def utm_tree(view: View, campaigns: Sequence[ComparedRow]) -> Branch:
    """The root, whose orders are those of the shop."""
    report = view.compared(revenue_by_utm, dimension="hierarchy")
    paths = _branches(report.now)
    _add_sign_ups(view, paths, campaigns)
    # An ad campaign belongs to the branch that has all of its sign-ups and orders; to the root alone where it
    # has none, or those of several sources.
    places, spend = _places(view), dict[Path, list[dict[str, Any]]]()
    for row in view.data(ad_spend)["rows"]:
        if row["provider"]:
            path = places.get((row["provider"], row["campaignId"]), ())
            for depth in range(len(path) + 1):
                spend.setdefault(path[:depth], []).append(row)
    for path in spend.keys() & paths.keys():
        paths[path].costs = costs(view, spend[path])
    root = paths[()]
    for path in sorted(paths, key=len, reverse=True):
        branch = paths[path]
        branch.below.sort(key=lambda child: (-child.net, child.value))
        if branch is not root and not any(child.value or child.below for child in branch.below):
            # Nothing is known further down.
            branch.below = []
    # All but the branches with most net revenue are left out. A branch has no more of it than the one that it
    # grows from, which comes first: none is left in the air.
    ranked = sorted(_downwards(root), key=lambda branch: -branch.net)
    shown = {id(branch) for branch in ranked[: _BRANCHES + 1]}
    for branch in ranked:
        branch.left_out = [child for child in branch.below if id(child) not in shown]
        branch.below = [child for child in branch.below if id(child) in shown]
    pair = report.pair_of(_NET)
    fair, before = map(_branches, report.read(pair)) if pair and not pair.reason else (None, None)
    noises = {depth: _noise(view, depth) for depth in (1, 2)} if fair is not None else {}
    for path, branch in paths.items():
        if id(branch) in shown:
            now, former = (None if side is None else _net(side, path) for side in (fair, before))
            noise = noises[len(path)](path) if len(path) in noises else None
            amount = Value(branch.net, now, former, pair, noise) if path else Value(branch.net)
            asked = {f"utm_{level}": value for level, value in zip(_LEVELS, path, strict=False)}
            branch.cell = _COLUMN.cell(view, ComparedRow({"value": amount}), [asked])
    return root


def _noise(view: View, depth: int) -> Callable[[Path], Noise | None]:
    """The noise of the net revenue of sources, or of campaigns."""
    places = (_SOURCE, _CAMPAIGN)[:depth]

    def key(path: Path) -> int:
        return text_id(SEPARATOR.join(path))

    def keys_of(_: Query, utms: Iterator[Utm]) -> Iterator[int]:
        return (key(tuple(utm[place] for place in places)) for utm in utms)

    read = orders_by_utm(attribution, keys_of)
    noise = daily_noise(view, HIERARCHY, [read], lambda line: key(line["path"]))
    return lambda path: noise({"path": path}, _NET)


def _add_sign_ups(view: View, paths: dict[Path, Branch], campaigns: Sequence[ComparedRow]) -> None:
    """Add the sign-ups of each campaign to its branch and to that of its source. A source without orders has
    none."""
    bought: dict[Path, list[Value]] = {}
    for row in campaigns:
        rate = row.rate("convertedSubmissions", "submissionCount")
        path: Path = (row["utmSource"], row["utmCampaign"])
        for each in ((), path[:1], path):
            bought.setdefault(each, []).append(rate)
    for each, rates in bought.items():
        if each in paths:
            counts = [rate.shown or (0, 0) for rate in rates]
            hits, trials = (sum(each) for each in zip(*counts, strict=True))
            paths[each].sign_ups = sum(rate.now[1] for rate in rates)
            bought_of_path = ComparedRow({"value": Value((hits, trials))})
            paths[each].bought = _BOUGHT.cell(view, bought_of_path)


def _places(view: View) -> dict[Campaign, Path]:
    """The branch of each ad campaign that has sign-ups or orders in these days."""
    query = view.answers.query(ad_spend, view.selection.window)
    campaigns, places = campaigns_of(query), dict[Campaign, Path]()
    found = [query.sums(name, by=("utm",))["utm"] for name in ("utm_submission", "utm_order")]
    for utm in query.each_utm(np.unique(np.concatenate(found))):
        campaign = campaigns.match(utm[_SOURCE], utm[_CAMPAIGN], utm[_ID])
        if campaign:
            path = utm[_SOURCE], utm[_CAMPAIGN]
            both = zip(places.get(campaign, path), path, strict=False)
            places[campaign] = tuple(
                one for one, _ in takewhile(lambda pair: pair[0] == pair[1], both)
            )
    return places


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


def _downwards(root: Branch) -> Iterator[Branch]:
    """The root, then its branches, then theirs."""
    waiting = deque([root])
    while waiting:
        branch = waiting.popleft()
        yield branch
        waiting += branch.below
