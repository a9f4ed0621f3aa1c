"""Events of the audit trail are kept for AUDIT_DAYS."""

from tests.support.job_commands import Commands
from warehouse.domain.time import MICROS_PER_DAY


def test_the_purge_removes_older_events(sqlite_commands: Commands) -> None:
    sqlite_commands("purge")
    (now,) = sqlite_commands.rows("SELECT MAX(started_at) FROM job_run")
    for days in (399, 401, 6, 8):
        at = now - days * MICROS_PER_DAY
        sqlite_commands.change(
            f"INSERT INTO audit_event (shop_key, at, actor, source_ip, action, detail) "
            f"VALUES (0, {at}, 'ada@mail.example', '192.0.2.1', 'signed_in', '{days}')"
        )
    left = "SELECT detail FROM audit_event ORDER BY at"
    sqlite_commands("purge")
    assert sqlite_commands.rows(left) == ["399", "8", "6"]
    sqlite_commands.settings["AUDIT_DAYS"] = "7"
    sqlite_commands("purge")
    assert sqlite_commands.rows(left) == ["6"]
