"""Leases of jobs, and the identity of their holders."""

import os
import socket
import subprocess
import sys

from warehouse.connections.arrow import open_arrow
from warehouse.domain.time import CLOCK_SKEW, MICROS_PER_DAY
from warehouse.operations import job_leases, job_runs
from warehouse.operations.process_id import LEASE_MICROS, display_name, is_dead, own_id


def ended_process() -> str:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return f"{socket.gethostname()}:{process.pid}:token"


def hold(url: str, owner: str, until: int) -> None:
    with open_arrow(url) as connection:
        connection.execute(
            "INSERT INTO job_lease (job, owner, until) VALUES ('job', $1, $2)", owner, until
        )
        connection.commit()


def test_a_lease_is_taken_once_until_it_is_released(warehouse_url: str) -> None:
    with open_arrow(warehouse_url) as connection:
        assert job_leases.take(connection, "job", 1)
        assert job_leases.holder(connection, "job") == f"{socket.gethostname()}:{os.getpid()}"
        assert not job_leases.take(connection, "job", 2)
        assert job_leases.take(connection, "another job", 2)
        job_leases.release(connection, "job")
        assert job_leases.holder(connection, "job") == ""
        assert job_leases.take(connection, "job", 3)


def test_a_lease_expires_unless_it_is_renewed(warehouse_url: str) -> None:
    with open_arrow(warehouse_url) as connection:
        assert job_leases.take(connection, "job", 0)
        job_leases.renew(connection, 10)
        assert not job_leases.take(connection, "job", LEASE_MICROS + 10)
        assert job_leases.take(connection, "job", LEASE_MICROS + 11)


def test_a_lease_of_another_machine_is_free_when_it_expires(warehouse_url: str) -> None:
    hold(warehouse_url, "elsewhere:1:token", 100)
    with open_arrow(warehouse_url) as connection:
        assert not job_leases.take(connection, "job", 100)
        job_leases.renew(connection, 100)
        job_leases.release(connection, "job")
        assert job_leases.holder(connection, "job") == "elsewhere:1"
        assert job_leases.take(connection, "job", 101)


def test_a_lease_of_a_clock_that_was_ahead_is_free(warehouse_url: str) -> None:
    hold(warehouse_url, "elsewhere:1:token", LEASE_MICROS + CLOCK_SKEW + 100)
    with open_arrow(warehouse_url) as connection:
        # The clocks of two machines may differ a little.
        assert not job_leases.take(connection, "job", 100)
        assert job_leases.take(connection, "job", 99)


def test_a_run_that_was_seen_by_a_clock_ahead_has_died(warehouse_url: str) -> None:
    year = 365 * MICROS_PER_DAY
    with open_arrow(warehouse_url) as connection:
        job_runs.begin(connection, job_runs.Record("landing", ""), year)
        connection.execute("UPDATE job_run SET owner = 'elsewhere:1:token'")
        connection.commit()
        shown = [job_runs.last_of_each(connection, now)[0]["state"] for now in (0, year)]
    assert shown == [job_runs.DIED, job_runs.RUNNING]


def test_a_lease_of_a_process_that_has_ended_is_free(warehouse_url: str) -> None:
    hold(warehouse_url, ended_process(), 2**60)
    with open_arrow(warehouse_url) as connection:
        assert job_leases.take(connection, "job", 1)


def test_the_dead_are_told_from_the_living() -> None:
    host, pid, _ = own_id().split(":")
    assert own_id() == own_id()
    assert display_name(own_id()) == f"{host}:{pid}"
    assert not is_dead(own_id())
    assert is_dead(f"{host}:{pid}:a token from before a restart")
    assert not is_dead(f"{host}:1:token")
    assert not is_dead("elsewhere:1:token")
    assert is_dead(ended_process())
