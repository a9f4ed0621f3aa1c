"""A tap for tests: writes the messages that its configuration has, and does what it says besides.

It leaves in `seen` what it was given. `python tap_program.py --config FILE [--state FILE] [--catalog FILE]`
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("--config", "--state", "--catalog"):
        parser.add_argument(name)
    given = parser.parse_args()
    config = json.loads(Path(given.config).read_text())
    seen = {
        "config": config,
        "state": json.loads(Path(given.state).read_text()) if given.state else None,
        "catalog": json.loads(Path(given.catalog).read_text()) if given.catalog else None,
        "folder": os.getcwd(),
        "paths": [given.config.rstrip("0123456789").removesuffix("config.json")],
        "environment": dict(os.environ),
        "pid": os.getpid(),
    }
    for line in config.get("says", []):
        print(line.replace("TOKEN", config["access_token"]), file=sys.stderr)
    # A test that waits for `seen` may kill the tap at once.
    written = Path(config["seen"] + ".new")
    written.write_text(json.dumps(seen))
    written.rename(config["seen"])
    for message in config["messages"]:
        print(message if isinstance(message, str) else json.dumps(message), flush=True)
    time.sleep(config.get("sleeps", 0))
    sys.exit(config.get("status", 0))


main()
