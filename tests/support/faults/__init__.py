"""Faults for `tests/system/faults`: a process to hit, a warehouse of its own, and a story to survive."""
