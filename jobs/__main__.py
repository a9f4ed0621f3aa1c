"""The entry point of `python -m jobs`."""

from jobs.cli import main

main(prog_name="python -m jobs")
