"""A night of many shops on a Dask cluster: whatever fails, the figures are those of one process."""

import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from tests.support import postgres
from tests.support.demo_service import ROOT
from tests.system.hosts.conftest import WORKERS, Farm
from tests.system.hosts.network import Host
from tests.system.hosts.night import Night
from tests.system.hosts.services import START_SECONDS, Authority, wait_until
from warehouse.catalogue import LOGIC_VERSION
from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.operations.process_id import LEASE_MICROS

pytestmark = pytest.mark.deep

Fault = Callable[[Farm, Host, int], None]

_LEASE_SECONDS = LEASE_MICROS / MICROS_PER_SECOND
# Leases end, connections are given up, and the machine is busy.
_MAX_SECONDS = 1_200


def kill(farm: Farm, host: Host, pid: int) -> None:
    host.send(signal.SIGKILL, pid)


def terminate(farm: Farm, host: Host, pid: int) -> None:
    host.send(signal.SIGTERM, pid)


def freeze_for_longer_than_a_lease(farm: Farm, host: Host, pid: int) -> None:
    host.send(signal.SIGSTOP, pid)
    time.sleep(_LEASE_SECONDS + 30)
    host.send(signal.SIGCONT, pid)


def cut_from_all(farm: Farm, host: Host, pid: int) -> None:
    farm.network.unplug(host)


def cut_from_scheduler(farm: Farm, host: Host, pid: int) -> None:
    farm.network.cut(host, farm.cluster.scheduler)


def cut_from_database(farm: Farm, host: Host, pid: int) -> None:
    farm.network.cut(host, farm.database.host)


def kill_scheduler(farm: Farm, host: Host, pid: int) -> None:
    farm.cluster.scheduler.end()


@pytest.mark.parametrize(
    "fault",
    [
        kill,
        terminate,
        freeze_for_longer_than_a_lease,
        cut_from_all,
        cut_from_scheduler,
        cut_from_database,
        kill_scheduler,
    ],
)
def test_something_fails_while_a_worker_writes(farm: Farm, night: Night, fault: Fault) -> None:
    strike_while_a_worker_writes(farm, night, fault)


def test_a_worker_is_killed_in_the_largest_night(full_farm: Farm, full_night: Night) -> None:
    strike_while_a_worker_writes(full_farm, full_night, kill)


def strike_while_a_worker_writes(farm: Farm, night: Night, fault: Fault) -> None:
    farm.start_cluster()
    with farm.slow_batch(night.largest_batch) as slow:
        rollup = farm.roll_up()
        name, pid = slow.wait_for_worker_on(START_SECONDS)
        began = time.monotonic()
        fault(farm, farm.host(name), pid)
        # Whatever it has sent so far arrives, or not.
        time.sleep(1)
        slow.release()
        print(rollup.finish(_MAX_SECONDS))
    print(f"{fault.__name__}: {time.monotonic() - began:.0f} s")
    night.assert_figures(farm.url)


def test_a_worker_is_frozen_before_its_first_task(farm: Farm, night: Night) -> None:
    farm.start_cluster()
    frozen = farm.host("worker-0")
    frozen.send(signal.SIGSTOP, -1)
    said = farm.roll_up().finish(_MAX_SECONDS)
    assert " did nothing for 10 s; this process goes on alone" in said
    assert farm.hosts_at_work() == {"worker-1", "worker-2"}
    night.assert_figures(farm.url)


def test_the_database_is_restarted_while_a_worker_writes(farm: Farm, night: Night) -> None:
    # Sequences of a database that was copied since the last checkpoint would go back.
    postgres.administer(farm.database.server, "CHECKPOINT")
    farm.start_cluster()
    # The test's own connection is lost, too, and with it the lock that holds the batch up.
    with suppress(psycopg.OperationalError), farm.slow_batch(night.largest_batch) as slow:
        rollup = farm.roll_up()
        slow.wait_for_worker_on(START_SECONDS)
        farm.database.restart()
    wait_until(rollup.has_ended, _MAX_SECONDS)
    print(rollup.printed())
    # As the schedule does.
    farm.roll_up().finish(_MAX_SECONDS)
    night.assert_figures(farm.url)


def test_a_worker_has_another_logic_version(farm: Farm, night: Night, tmp_path: Path) -> None:
    other = tmp_path / "other"
    for package in ("jobs", "warehouse"):
        shutil.copytree(ROOT / package, other / package)
    catalogue = other / "warehouse" / "catalogue.py"
    line = "LOGIC_VERSION: Final = {}\n"
    text = catalogue.read_text()
    assert line.format(LOGIC_VERSION) in text
    catalogue.write_text(text.replace(line.format(LOGIC_VERSION), line.format(LOGIC_VERSION + 1)))
    farm.start_cluster()
    differing = farm.new_host("differing")
    # Without the folder in which it is started, which comes before others.
    farm.cluster.start_worker(differing, PYTHONSAFEPATH="1", PYTHONPATH=str(other))
    farm.cluster.wait_for_workers(WORKERS + 1)
    said = farm.roll_up().finish(_MAX_SECONDS)
    assert f"it has logic version {LOGIC_VERSION + 1} instead of {LOGIC_VERSION}" in said
    assert "differing" not in farm.hosts_at_work()
    night.assert_figures(farm.url)


def test_a_worker_has_a_certificate_of_another_authority(
    farm: Farm, night: Night, tmp_path: Path
) -> None:
    farm.start_cluster()
    stranger = farm.new_host("stranger")
    farm.cluster.start_worker(stranger, **Authority(tmp_path / "other").settings)
    wait_until(lambda: "TLS certificate does not match" in farm.cluster.printed(stranger))
    farm.roll_up().finish(_MAX_SECONDS)
    assert farm.cluster.printed(farm.cluster.scheduler).count("Register worker") == WORKERS
    assert "stranger" not in farm.hosts_at_work()
    night.assert_figures(farm.url)
