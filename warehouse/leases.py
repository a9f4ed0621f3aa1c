"""Job leases: one run of a scheduled job at a time, across processes and machines.

The process that does the work holds the lease and renews it well before it ends; it is free when
released, when it has run out, or when its holder is a process of this machine that is no more.
"""

from warehouse.bulk import Bulk
from warehouse.owners import LEASE_MICROS, is_dead, me, shown


def take(bulk: Bulk, job: str, now: int) -> bool:
    """Take the lease of a job for this process; False where another one has it. Commits."""
    bulk.execute("INSERT INTO job_lease (job) VALUES ($1) ON CONFLICT DO NOTHING", job)
    bulk.commit()
    owner = bulk.value("SELECT owner FROM job_lease WHERE job = $1", job)
    bulk.commit()
    abandoned = owner if owner and is_dead(owner) else ""
    taken = bulk.changed(
        "UPDATE job_lease SET owner = $1, until = $2 "
        "WHERE job = $3 AND (owner = '' OR owner = $4 OR until < $5) RETURNING job",
        me(),
        now + LEASE_MICROS,
        job,
        abandoned,
        now,
    )
    bulk.commit()
    return bool(taken)


def holder(bulk: Bulk, job: str) -> str:
    """Who holds the lease of a job ("host:pid"), "" where nobody does. Commits."""
    owner = bulk.value("SELECT owner FROM job_lease WHERE job = $1", job) or ""
    bulk.commit()
    return shown(owner)


def renew(bulk: Bulk, now: int) -> None:
    """Keep the job leases of this process for another while. Commits."""
    bulk.execute("UPDATE job_lease SET until = $1 WHERE owner = $2", now + LEASE_MICROS, me())
    bulk.commit()


def release(bulk: Bulk, job: str) -> None:
    """Give the lease of a job back, where this process has it still. Commits."""
    bulk.execute(
        "UPDATE job_lease SET owner = '', until = 0 WHERE job = $1 AND owner = $2", job, me()
    )
    bulk.commit()
