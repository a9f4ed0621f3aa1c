"""Leases of jobs, and the identity of their holders."""

import os
import socket
import subprocess
import sys
import time

from warehouse.connections.arrow import open_arrow
from warehouse.domain.time import CLOCK_SKEW, MICROS_PER_DAY, MICROS_PER_SECOND
from warehouse.operations import job_leases, job_runs
from warehouse.operations.process_id import LEASE_MICROS, display_name, is_dead, new_owner

ELSEWHERE = "elsewhere:1:machine:1:token"
TELL_OWNER = "from warehouse.operations.process_id import new_owner; print(new_owner(), flush=True)"


def ended_process() -> str:
    return subprocess.run(
        [sys.executable, "-c", TELL_OWNER], stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def hold(url: str, owner: str, until: int) -> None:
    with open_arrow(url) as connection:
        connection.execute(
            "INSERT INTO job_lease (job, owner, until) VALUES ('job', $1, $2)", owner, until
        )
        connection.commit()


def test_a_lease_is_taken_once_until_it_is_released(warehouse_url: str) -> None:
    owner = new_owner()
    with open_arrow(warehouse_url) as connection:
        assert job_leases.take(connection, "job", owner, 1)
        assert job_leases.holder(connection, "job") == f"{socket.gethostname()}:{os.getpid()}"
        assert not job_leases.take(connection, "job", owner, 2)
        assert job_leases.take(connection, "another job", owner, 2)
        job_leases.release(connection, "job", owner)
        assert job_leases.holder(connection, "job") == ""
        assert job_leases.take(connection, "job", owner, 3)


def test_a_lease_expires_unless_it_is_renewed(warehouse_url: str) -> None:
    owner = new_owner()
    with open_arrow(warehouse_url) as connection:
        assert job_leases.take(connection, "job", owner, 0)
        job_leases.renew(connection, owner, 10)
        assert not job_leases.take(connection, "job", owner, LEASE_MICROS + 10)
        assert job_leases.take(connection, "job", owner, LEASE_MICROS + 11)


def test_a_lease_of_another_machine_is_free_when_it_expires(warehouse_url: str) -> None:
    hold(warehouse_url, ELSEWHERE, 100)
    owner = new_owner()
    with open_arrow(warehouse_url) as connection:
        assert not job_leases.take(connection, "job", owner, 100)
        job_leases.renew(connection, owner, 100)
        job_leases.release(connection, "job", owner)
        assert job_leases.holder(connection, "job") == "elsewhere:1"
        assert job_leases.take(connection, "job", owner, 101)


def test_a_lease_of_a_clock_that_was_ahead_is_free(warehouse_url: str) -> None:
    hold(warehouse_url, ELSEWHERE, LEASE_MICROS + CLOCK_SKEW + 100)
    owner = new_owner()
    with open_arrow(warehouse_url) as connection:
        # The clocks of two machines may differ a little.
        assert not job_leases.take(connection, "job", owner, 100)
        assert job_leases.take(connection, "job", owner, 99)


def test_a_run_that_was_seen_by_a_clock_ahead_has_died(warehouse_url: str) -> None:
    year = 365 * MICROS_PER_DAY
    with open_arrow(warehouse_url) as connection:
        job_runs.begin(connection, job_runs.Record("landing", ""), year)
        connection.execute("UPDATE job_run SET owner = '" + ELSEWHERE + "'")
        connection.commit()
        shown = [job_runs.last_of_each(connection, now)[0]["state"] for now in (0, year)]
    assert shown == [job_runs.DIED, job_runs.RUNNING]


def test_a_lease_of_a_process_that_has_ended_is_free(warehouse_url: str) -> None:
    hold(warehouse_url, ended_process(), 2**60)
    owner = new_owner()
    with open_arrow(warehouse_url) as connection:
        assert job_leases.take(connection, "job", owner, 1)


def test_the_dead_are_told_from_the_living() -> None:
    owner = new_owner()
    host, pid, machine, birth, token = owner.split(":")
    assert display_name(owner) == f"{host}:{pid}" == f"{socket.gethostname()}:{os.getpid()}"
    assert not is_dead(owner)
    # A process of before, which had the number of this one.
    assert is_dead(f"{host}:{pid}:{machine}:{int(birth) - 1}:{token}")
    assert is_dead(ended_process())
    assert not is_dead(ELSEWHERE)


def test_another_container_with_the_same_host_name_may_be_alive() -> None:
    host, _, machine, birth, token = new_owner().split(":")
    # Above the greatest process number: nobody here has it.
    assert is_dead(f"{host}:{2**22 + 1}:{machine}:{birth}:{token}")
    assert not is_dead(f"{host}:{2**22 + 1}:{machine[::-1]}:{birth}:{token}")


def test_a_zombie_is_dead() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", TELL_OWNER], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    owner = process.stdout.readline().strip()
    process.stdout.read()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_dead(owner)
    process.wait()
    process.stdout.close()


def test_two_runs_of_a_process_are_two_owners(warehouse_url: str) -> None:
    one, other = new_owner(), new_owner()
    with open_arrow(warehouse_url) as connection:
        assert job_leases.take(connection, "job", one, 1)
        assert not job_leases.take(connection, "job", other, 1)
        job_leases.release(connection, "job", other)
        assert job_leases.holder(connection, "job") == display_name(one)


def test_the_clock_is_the_database_servers(warehouse_url: str) -> None:
    with open_arrow(warehouse_url) as connection:
        before = time.time_ns() // 1_000
        now = connection.now_micros()
        after = time.time_ns() // 1_000
        assert before - MICROS_PER_SECOND < now < after + MICROS_PER_SECOND
