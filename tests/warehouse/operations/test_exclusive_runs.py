"""Exclusive runs of a job, and the identity of their processes."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.domain.time import CLOCK_SKEW, MICROS_PER_DAY, MICROS_PER_SECOND
from warehouse.operations import job_runs
from warehouse.operations.job_runs import Record
from warehouse.operations.process_id import LEASE_MICROS, display_name, is_dead, new_owner

ELSEWHERE = "elsewhere:1:machine:1:token"
TELL_OWNER = "from warehouse.operations.process_id import new_owner; print(new_owner(), flush=True)"


@pytest.fixture
def connection(warehouse_url: str) -> Iterator[ArrowConnection]:
    with open_arrow(warehouse_url) as opened:
        yield opened


def ended_process() -> str:
    return subprocess.run(
        [sys.executable, "-c", TELL_OWNER], stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def begun(
    connection: ArrowConnection, now: int, owner: str = "", job: str = "job"
) -> Record | None:
    """An exclusive run that begins, unless another one keeps it from that."""
    record = Record(job, "", is_exclusive=True, owner=owner or new_owner())
    return record if job_runs.begin(connection, record, now) else None


def test_a_job_has_one_exclusive_run_until_it_ends(connection: ArrowConnection) -> None:
    first = begun(connection, 1)
    assert first
    assert job_runs.holder(connection, "job") == first.owner
    assert not begun(connection, 2)
    assert begun(connection, 2, job="another job")
    assert job_runs.begin(connection, Record("job", "one that is not exclusive"), 2)
    job_runs.update(connection, first, 3, job_runs.FAILED)
    assert job_runs.holder(connection, "job") == ""
    assert begun(connection, 3)


def test_a_run_lives_for_as_long_as_it_is_seen(connection: ArrowConnection) -> None:
    record = begun(connection, 0)
    assert record
    job_runs.update(connection, record, 10)
    assert not begun(connection, LEASE_MICROS + 10)
    assert begun(connection, LEASE_MICROS + 11)


def test_a_run_of_another_machine_has_died_when_it_is_seen_no_more(
    connection: ArrowConnection,
) -> None:
    assert begun(connection, 0, ELSEWHERE)
    assert not begun(connection, LEASE_MICROS)
    assert job_runs.holder(connection, "job") == ELSEWHERE
    assert begun(connection, LEASE_MICROS + 1)


def test_a_run_of_a_clock_that_was_ahead_has_died(connection: ArrowConnection) -> None:
    assert begun(connection, CLOCK_SKEW + 100, ELSEWHERE)
    # The clocks of two machines may differ a little.
    assert not begun(connection, 100)
    assert begun(connection, 99)


def test_a_run_of_a_process_that_has_ended_has_died(connection: ArrowConnection) -> None:
    assert begun(connection, 1, ended_process())
    assert begun(connection, 1)


def test_a_run_that_was_taken_for_dead_does_not_live_again(connection: ArrowConnection) -> None:
    """Its process was frozen, and goes on."""
    frozen = begun(connection, 0)
    other = begun(connection, LEASE_MICROS + 1)
    assert frozen
    assert other
    job_runs.update(connection, frozen, LEASE_MICROS + 2)
    assert not begun(connection, LEASE_MICROS + 3)
    job_runs.update(connection, frozen, LEASE_MICROS + 4, job_runs.DONE)
    job_runs.update(connection, other, LEASE_MICROS + 5)
    states = connection.table("SELECT state FROM job_run ORDER BY run_id").column(0).to_pylist()
    assert states == [job_runs.DONE, job_runs.RUNNING]


def test_of_many_that_begin_at_once_one_does(warehouse_url: str) -> None:
    def begins(number: int) -> bool:
        with open_arrow(warehouse_url) as connection:
            return begun(connection, LEASE_MICROS + 2 + number) is not None

    with open_arrow(warehouse_url) as connection:
        assert begun(connection, 1, ELSEWHERE)
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(begins, range(16))) == 1


def test_the_row_of_a_run_that_goes_on_is_kept(connection: ArrowConnection) -> None:
    record = begun(connection, 1)
    assert record
    job_runs.update(connection, record, 2 * MICROS_PER_DAY)
    assert job_runs.purge(connection, 2 * MICROS_PER_DAY + 1, 1) == 0
    assert not begun(connection, 2 * MICROS_PER_DAY + 1)
    assert job_runs.purge(connection, 4 * MICROS_PER_DAY, 1) == 1


def test_a_run_that_was_seen_by_a_clock_ahead_has_died(warehouse_url: str) -> None:
    year = 365 * MICROS_PER_DAY
    with open_arrow(warehouse_url) as connection:
        job_runs.begin(connection, job_runs.Record("landing", ""), year)
        connection.execute("UPDATE job_run SET owner = '" + ELSEWHERE + "'")
        connection.commit()
        shown = [job_runs.last_of_each(connection, now)[0]["state"] for now in (0, year)]
    assert shown == [job_runs.DIED, job_runs.RUNNING]


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


def test_the_clock_is_the_database_servers(warehouse_url: str) -> None:
    with open_arrow(warehouse_url) as connection:
        before = time.time_ns() // 1_000
        now = connection.now_micros()
        after = time.time_ns() // 1_000
        assert before - MICROS_PER_SECOND < now < after + MICROS_PER_SECOND
