"""The entry point of `python -m web`."""

import os

from web.cli import main as commands


def main(name: str) -> None:
    """Run the command in `sys.argv` and exit; `name` is what messages call the program."""
    # The warehouse has keys, members and all data: it is the business of its own user alone.
    os.umask(0o077)
    commands(prog_name=name)


if __name__ == "__main__":
    main("python -m web")
