"""Job leases: one run of a scheduled job at a time, across processes and machines.

The process that runs the job holds its lease and renews it. A lease is free once it is released or
expired (`LEASE_REACH`), or its holder was a process of this machine that has ended.
"""

from warehouse.connections.arrow import ArrowConnection
from warehouse.operations.process_id import LEASE_MICROS, LEASE_REACH, display_name, is_dead, own_id


def take(connection: ArrowConnection, job: str, now: int) -> bool:
    """Take the lease of a job for this process; False if another process holds it. Commits."""
    connection.execute("INSERT INTO job_lease (job) VALUES ($1) ON CONFLICT DO NOTHING", job)
    connection.commit()
    owner = connection.value("SELECT owner FROM job_lease WHERE job = $1", job)
    connection.commit()
    dead_owner = owner if owner and is_dead(owner) else ""
    taken = connection.changed(
        "UPDATE job_lease SET owner = $1, until = $2 "
        "WHERE job = $3 AND (owner = '' OR owner = $4 OR until < $5 OR until > $6) RETURNING job",
        own_id(),
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


def renew(connection: ArrowConnection, now: int) -> None:
    """Extend the job leases of this process. Commits."""
    connection.execute(
        "UPDATE job_lease SET until = $1 WHERE owner = $2", now + LEASE_MICROS, own_id()
    )
    connection.commit()


def release(connection: ArrowConnection, job: str) -> None:
    """End the lease of a job, if this process still holds it. Commits."""
    connection.execute(
        "UPDATE job_lease SET owner = '', until = 0 WHERE job = $1 AND owner = $2", job, own_id()
    )
    connection.commit()
