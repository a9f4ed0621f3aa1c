"""Examples: true answers of the demo's shop, which a test asks for again and compares."""

from pathlib import Path
from typing import Any, Final

import orjson

FILE: Final = Path(__file__).with_name("examples.json")

EXAMPLES: Final[dict[str, dict[str, Any]]] = orjson.loads(FILE.read_bytes())
"""By operation: `answers`, each whole, by a name; and the `request` body that had it, if any."""
