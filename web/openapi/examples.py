"""Examples: true answers of the demo's shop, which a test asks for again and compares."""

from pathlib import Path
from typing import Any, Final

import orjson

FILE: Final = Path(__file__).with_name("examples.json")

EXAMPLES: Final[dict[str, dict[str, Any]]] = orjson.loads(FILE.read_bytes())
"""By operation: `answers`, each by a name; `refusals` of its own, by code; and the body of the `request`,
if it has one. `python -m tests.web.openapi.record_examples` writes them down."""
