"""Storage: tables, migrations, connections, editions, daily rows, backups, settings.

Both `web` and `jobs` import it; it imports neither, and knows no pandas and no Flask. Start in
`catalogue.py`, which declares every daily summary.
"""

from typing import Final

VERSION: Final = "0.1.0"
"""The version of this program: `--version`, `/readyz`, the OpenAPI document and pulls have it from here."""
