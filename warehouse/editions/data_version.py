"""A shop's data version: two answers with the same version are the same.

Everything that changes something an answer can show changes the version in the same transaction: a
rollup, a backfill, a new edition, an import of what answers read directly, a form that is created or
edited. ETags and the cache of answers rely on it.
"""


def next_version(now: int) -> str:
    """The assignments of an `UPDATE shop` that change the data version at the instant `now`. The
    instant of the change never goes back, whatever the clocks of several machines say."""
    later = f"CASE WHEN data_changed_at < {now} THEN {now} ELSE data_changed_at END"
    return f"data_version = data_version + 1, data_changed_at = {later}"
