"""Faults put into the commands as processes, at random points, on both databases.

START HERE: `story.py` takes a random world in, file by file, with rollups, backfills, rebuilds and
verifications in between; most of them are hit by a fault first, and started again. `victim.py` is the
process that is hit, `places.py` where its warehouse lies. In the end the answers are those of an undisturbed
run, and nothing needed a hand.

    python -m tests.system.faults --faults 300  # many of them, and a count of each kind
"""
