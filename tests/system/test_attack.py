"""A short attack of the deep tests: the tools work, and another tenant's writes go on."""

from pathlib import Path

from tests.system.attack import attacked, compare, creates_a_form, malformed_forms
from tests.system.attackers import hard_passwords


def test_a_member_in_a_loop_stops_no_writes_of_others(tmp_path: Path) -> None:
    with attacked(tmp_path) as (target, _):
        calm, beside = compare(target, hard_passwords, creates_a_form, 2)
        assert set(calm.statuses) == set(beside.statuses) == {201}
        assert set(malformed_forms(target)) == {400}
