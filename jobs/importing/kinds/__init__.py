"""The kinds of files that can be imported, by name."""

from typing import Final

from jobs.importing.kind import Kind
from jobs.importing.kinds.events import Events

KINDS: Final[dict[str, Kind]] = {kind.name: kind for kind in (Events(),)}
