"""Job leases: one run of a scheduled job at a time, across processes and machines.

The run of the job holds its lease and renews it. A lease is free once it is released or expired
(`LEASE_REACH`), or its holder was a process of this machine that has ended. Instants are the database
server's, `connection.now_micros()`: the clocks of hosts differ.
"""

from warehouse.connections.arrow import ArrowConnection
from warehouse.operations.process_id import LEASE_MICROS, LEASE_REACH, display_name, is_dead


def take(connection: ArrowConnection, job: str, owner: str, now: int) -> bool:
    """Take the lease of a job; False if another owner holds it. Commits."""
    connection.execute("INSERT INTO job_lease (job) VALUES ($1) ON CONFLICT DO NOTHING", job)
    connection.commit()
    present = connection.value("SELECT owner FROM job_lease WHERE job = $1", job)
    connection.commit()
    dead_owner = present if present and is_dead(present) else ""
    taken = connection.changed(
        "UPDATE job_lease SET owner = $1, until = $2 "
        "WHERE job = $3 AND (owner = '' OR owner = $4 OR until < $5 OR until > $6) RETURNING job",
        owner,
        now + LEASE_MICROS,
        job,
        dead_owner,
        now,
        now + LEASE_REACH,
    )
    connection.commit()
    return bool(taken)


def holder(connection: ArrowConnection, job: str) -> str:
    """The process that holds the lease of a job ("host:pid"), "" if none does. Commits."""
    owner = connection.value("SELECT owner FROM job_lease WHERE job = $1", job) or ""
    connection.commit()
    return display_name(owner)


def renew(connection: ArrowConnection, owner: str, now: int) -> None:
    """Extend the job leases of an owner. Commits."""
    connection.execute(
        "UPDATE job_lease SET until = $1 WHERE owner = $2", now + LEASE_MICROS, owner
    )
    connection.commit()


def release(connection: ArrowConnection, job: str, owner: str) -> None:
    """End the lease of a job, if this owner still holds it. Commits."""
    connection.execute(
        "UPDATE job_lease SET owner = '', until = 0 WHERE job = $1 AND owner = $2", job, owner
    )
    connection.commit()
