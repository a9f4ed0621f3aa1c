"""Reports: a figure is described, typed and computed in one file, and told to owners in their own words."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from warehouse.catalogue import OUTCOMES, SUMMARIES, SUMMARY
from warehouse.daily.reader import Sums
from warehouse.domain.figures import FIGURES, Figure
from warehouse.domain.vocabulary import SCOPE_NEEDS
from web.api.rows import Row
from web.reports import ENDPOINTS, READABLE

ROOT = Path(__file__).parent.parent.parent
CONSTRUCTORS = {"count", "money", "percent", "number", "milliseconds"}
ROWS = {
    inner.name: inner
    for endpoint in ENDPOINTS
    for row in ([endpoint.data] if isinstance(endpoint.data, Row) else endpoint.data.values())
    for inner in row.inner_rows
}
FIGURES_OF_ROWS = [(row, figure) for row in ROWS.values() for figure in row.figures.values()]


def declarations() -> dict[str, set[str]]:
    """By a figure's name, the files of the product in which it is declared."""
    files = defaultdict(set)
    for path in [*(ROOT / "web").rglob("*.py"), *(ROOT / "warehouse").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in CONSTRUCTORS:
                match node.args:
                    case [ast.Constant(value=str() as name), ast.Constant(), *_]:
                        files[name].add(str(path.relative_to(ROOT)))
    return files


def test_a_shared_figure_is_declared_in_one_file() -> None:
    files = declarations()
    assert len(FIGURES) > 15
    for name in FIGURES:
        assert "warehouse/domain/figures.py" in files[name]
    # Elsewhere the same name has another meaning, which its row says in its own words.
    for row, figure in FIGURES_OF_ROWS:
        shared = FIGURES.get(figure.name)
        assert shared is None or figure is shared or figure.words != shared.words, row.name


def test_only_declarations_describe_figures() -> None:
    """No other module of the product has the words of a figure, nor computes one under its name."""
    words = {figure.words for _, figure in FIGURES_OF_ROWS if len(figure.words) > 30}
    strays = {}
    for path in (ROOT / "web").rglob("*.py"):
        if path.parent.name == "reports":
            continue
        texts = {
            node.value
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        if found := texts & words:
            strays[str(path.relative_to(ROOT))] = found
    assert strays == {}


def test_every_formula_is_of_figures_and_measures() -> None:
    measures = {measure for summary in SUMMARIES for measure in summary.measures}
    for row, figure in FIGURES_OF_ROWS:
        for operand in (
            *(figure.less or ()),
            *(figure.over or ()),
            *filter(None, [figure.share_of]),
        ):
            given = re.search(rf'"{operand}":', source_of(row)) is not None
            assert operand in {*row.figures, *FIGURES, *measures} or given, (row.name, operand)


def source_of(row: Row) -> str:
    """The module that declares a row."""
    (path,) = (
        path
        for path in (ROOT / "web").rglob("*.py")
        if re.search(rf'\(\s*"{row.name}",', path.read_text())
    )
    return path.read_text()


def test_owners_are_told_in_their_own_words() -> None:
    """Nothing of the API is in what an owner reads: no name of a field, no code, no clock."""
    sentences = [(figure.name, figure.owner) for _, figure in FIGURES_OF_ROWS]
    sentences += [(row.name, row.owner) for row in ROWS.values() if row.owner]
    assert len(sentences) > 100
    for name, sentence in sentences:
        assert sentence[:1].isupper(), name
        assert sentence.endswith("."), name
        assert not re.search(r"[`{}_]|[a-z][A-Z]|Cents|clock|null|UTM|API", sentence), (
            name,
            sentence,
        )


def test_every_report_tells_an_owner_what_its_rows_are() -> None:
    silent = {
        endpoint.function.__name__
        for endpoint in ENDPOINTS
        if endpoint.scope not in (None, "forms:write")
        for dimension in ([""] if isinstance(endpoint.data, Row) else endpoint.data)
        if not endpoint.row(dimension).owner
    }
    assert silent == set()


def test_one_formula_serves_a_row_and_a_total() -> None:
    row = ROWS["DeviceRow"]
    sums = Sums({name: np.array([3, 7 * (name != "converted")]) for name in MEASURES})
    lines = row.filled_rows([["mobile"], ["desktop"]], sums)
    alone = [
        row.filled([line["deviceType"]], each)
        for line, each in zip(lines, sums.rows(), strict=True)
    ]
    assert [each["shareOfViews"] for each in alone] == [100.0, 100.0]
    assert [
        each | {"shareOfViews": line["shareOfViews"]}
        for each, line in zip(alone, lines, strict=True)
    ] == lines
    assert (lines[0]["shareOfViews"], lines[1]["shareOfViews"]) == (30.0, 70.0)
    total = row.total(lines)
    assert (total["views"], total["submissionRate"], total["conversionRate"]) == (10, 100.0, 30.0)
    assert "shareOfViews" not in total
    # The hits of this rate are in no column, so nobody can add them up.
    assert "repeatRate" not in ROWS["LtvFormRow"].total([])


MEASURES = (*SUMMARY["device"].measures, *OUTCOMES)


def test_a_name_that_there_is_not_fails_at_import() -> None:
    with pytest.raises(KeyError, match="veiws"):
        Row("Wrong", "", "views veiws")


def test_a_quotient_of_nothing_is_nothing() -> None:
    average: Figure = FIGURES["averageOrderValueCents"]
    assert average.formula()({"grossRevenueCents": 0, "orders": 0}) == 0
    assert average.without == "no orders"


def test_what_a_member_may_not_grant_they_may_not_see() -> None:
    """The permission to grant the scope of a report is the one to see it: on a page, and as its CSV."""
    needed = {
        endpoint.scope: endpoint.member_needs and endpoint.member_needs[0]
        for endpoint in READABLE.values()
        if endpoint.scope in SCOPE_NEEDS
    }
    assert needed == {"discounts:read": "discounts:view"}
