"""`python -m web`."""

import os

from web.cli import main

if __name__ == "__main__":
    # The warehouse has keys, members and all data: it is the business of its own user alone.
    os.umask(0o077)
    main()
