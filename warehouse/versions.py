"""A shop's data version, which tells one state of its answers from another.

Whatever changes something that an answer can show moves it, in the same transaction: a rollup and a
backfill, an edition that takes another's place, an import of what answers read directly, a form that
is created or edited. ETags and caches of answers rest on that.
"""


def moved(now: int) -> str:
    """The assignments of an `UPDATE shop` that move the data version at the instant `now`. The
    instant that is kept beside it never runs backwards, whatever the clocks of several machines say."""
    later = f"CASE WHEN moved_at < {now} THEN {now} ELSE moved_at END"
    return f"data_version = data_version + 1, moved_at = {later}"
