"""Hosts without a cluster: two share a night, and one that is cut off holds nobody up."""

import signal
import time

import pytest

from tests.jobs.conftest import Commands
from tests.system.hosts.conftest import Farm
from tests.system.hosts.night import Night
from tests.system.hosts.services import START_SECONDS, wait_until

pytestmark = pytest.mark.deep

_MAX_SECONDS = 1_200
# Of rows that a host has locked when it is cut off.
_MAX_SECONDS_LOCKED = 15
_MIN_SHARE = 0.25


def test_two_hosts_share_a_night(farm: Farm, night: Night) -> None:
    hosts = [farm.driver, farm.new_host("other")]
    # The second one would begin to start when the first has done a part.
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
        rollup = farm.roll_up(farm.driver)
        _, pid = slow.wait_for_worker_on(START_SECONDS)
        if is_idle:
            farm.driver.send(signal.SIGSTOP, pid)
            slow.release()
            time.sleep(2)
        farm.network.unplug(farm.driver)
        slow.release()
        assert not _are_free(commands)
        seconds = wait_until(lambda: _are_free(commands), 60)
    print(f"{seconds:.1f} s")
    assert seconds < _MAX_SECONDS_LOCKED
    assert not rollup.has_ended() or not is_idle
    other = farm.new_host("other")
    farm.roll_up(other).finish(_MAX_SECONDS)
    night.assert_figures(farm.url)


def _are_free(commands: Commands) -> bool:
    """Whether nobody has locked a row of an edition."""
    free = commands.rows(
        "SELECT COUNT(*) FROM (SELECT 1 FROM edition FOR UPDATE SKIP LOCKED) AS free"
    )
    return bool(free == commands.rows("SELECT COUNT(*) FROM edition"))
