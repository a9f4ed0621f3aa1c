"""Hosts without a cluster: two share a night, and one that is cut off holds nobody up."""

import signal
import time

import pytest

from tests.support.job_commands import Commands
from tests.system.hosts.conftest import Farm
from tests.system.hosts.night import Night
from tests.system.hosts.services import START_SECONDS, wait_until

pytestmark = pytest.mark.deep

_MAX_SECONDS = 1_200
# For rows that a host has locked when it is cut off. By the defaults of most systems: 15 minutes to 2 hours.
_MAX_SECONDS_LOCKED = 60
_MIN_SHARE = 0.25
_END_SESSIONS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'driver:%'"
)


def test_two_hosts_share_a_night(farm: Farm, night: Night) -> None:
    hosts = [farm.driver, farm.new_host("other")]
    for rollup in [farm.roll_up(host) for host in hosts]:
        rollup.finish(_MAX_SECONDS)
    rows = dict(farm.commands.rows("SELECT split_part(owner, ':', 1), rows FROM job_run"))
    print(rows)
    assert all(rows[host.name] > _MIN_SHARE * sum(rows.values()) for host in hosts)
    night.assert_figures(farm.url)


@pytest.mark.parametrize("is_idle", [True, False], ids=["idle", "answered"])
def test_a_host_that_is_cut_off_holds_no_row_locks(farm: Farm, night: Night, is_idle: bool) -> None:
    """Its transaction is idle, or the server is about to answer it."""
    commands = farm.commands
    with farm.slow_batch(night.largest_batch) as slow:
        farm.roll_up(farm.driver)
        _, pid = slow.wait_for_worker_on(START_SECONDS)
        if is_idle:
            farm.driver.send(signal.SIGSTOP, pid)
            slow.release()
            time.sleep(2)
        assert not _are_free(commands)
        farm.network.unplug(farm.driver)
        slow.release()
        try:
            seconds = wait_until(lambda: _are_free(commands), _MAX_SECONDS_LOCKED)
        finally:
            # The end of the block would wait for it.
            commands.rows(_END_SESSIONS)
    print(f"{seconds:.1f} s")
    other = farm.new_host("other")
    farm.roll_up(other).finish(_MAX_SECONDS)
    night.assert_figures(farm.url)


def _are_free(commands: Commands) -> bool:
    """Whether nobody has locked a row of an edition."""
    free = commands.rows(
        "SELECT COUNT(*) FROM (SELECT 1 FROM edition FOR UPDATE SKIP LOCKED) AS free"
    )
    return bool(free == commands.rows("SELECT COUNT(*) FROM edition"))
