"""`make audit` takes silence for silence: what nobody was asked about is not free of vulnerabilities."""

import pytest

from tests.system.audit import outcome

WELL = {"name": "flask", "version": "3.1.3", "vulns": []}
BAD = {
    "name": "pip",
    "version": "23.2.1",
    "vulns": [
        {"id": "PYSEC-2023-228", "fix_versions": ["23.3"]},
        {"id": "X-1", "fix_versions": []},
    ],
}
UNKNOWN = {"name": "babel", "skip_reason": "Dependency not found"}


@pytest.mark.parametrize(
    ("packages", "status", "lines"),
    [
        ([WELL], 0, ["no vulnerability is known in 1 packages"]),
        (
            [WELL, BAD],
            1,
            ["pip 23.2.1: PYSEC-2023-228, mended in 23.3", "pip 23.2.1: X-1, mended in no version"],
        ),
        ([WELL, UNKNOWN], 75, ["not looked up: babel"]),
        (
            [UNKNOWN],
            75,
            ["the database of vulnerabilities cannot be asked from here: none was looked up"],
        ),
    ],
)
def test_outcomes(packages: list[dict[str, object]], status: int, lines: list[str]) -> None:
    assert outcome({"dependencies": packages}) == (status, lines)


def test_no_report_is_no_answer() -> None:
    assert outcome({}) == outcome({"dependencies": [UNKNOWN]})
