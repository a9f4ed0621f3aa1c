"""What form sessions brought: the orders that are credited to each, and their money."""

from typing import Final

import numpy as np

from jobs.codes import code, lookup
from jobs.facts.working import Working

_OUTCOME: Final = ["orders", "gross", "refunded"]


def move_outcomes(work: Working) -> None:
    """Take each order's figures from the session it was credited to, and give them to the new one."""
    credited = [rows[rows["session"] != 0] for rows in (work.old_orders, work.new_orders)]
    sessions = {
        name: np.concatenate([rows[name] for rows in credited]) for name in ("edition", "session")
    }
    codes = code(*sessions.values()).dense()
    moves = {name: np.zeros(codes.size, np.int64) for name in _OUTCOME}
    before, after = np.split(codes.codes, [len(credited[0])])
    for rows, to, sign in zip(credited, (before, after), (-1, 1), strict=True):
        for name in _OUTCOME:
            np.add.at(moves[name], to, sign * (1 if name == "orders" else rows[name].to_numpy()))
    changed = np.logical_or.reduce([moved != 0 for moved in moves.values()])
    places = codes.places()[changed]
    keys = {name: column[places] for name, column in sessions.items()}
    work.load_sessions(keys)
    rows = lookup(work.new_sessions.index.to_numpy(), keys["session"])
    for name in _OUTCOME:
        column = work.new_sessions[name].to_numpy().copy()
        column[rows] += moves[name][changed]
        work.new_sessions[name] = column
