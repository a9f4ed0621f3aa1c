"""Scheduled jobs and commands: imports, rollups, backups, checks. They write to the warehouse.

START HERE: `cli.py` has the commands by name; `README.md` says how to run them. pandas is used here and
nowhere else. `jobs` imports `warehouse`, never `web`.
"""
