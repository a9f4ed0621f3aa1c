"""Names in the landing folder that both rooms know: jobs read there, and the collector writes there."""

import os
import re
from typing import Final

# Beside the files, for those that were read and those that could not be.
DONE: Final = "done"
FAILED: Final = "failed"
# How the names of the collector's files begin.
COLLECTED: Final = "collected-"
# How those of pulls begin; then come the pull's name, `~` and an instant.
PULLED: Final = "pulled-"
_PULLED: Final = re.compile(rf"{PULLED}.+~\d{{8}}T\d{{12}}Z.*", re.DOTALL)
_LONGEST_NAME: Final = 255


def can_be_folder(shop_id: str) -> bool:
    """Whether a shop's id can be the name of its folder."""
    return (
        0 < len(os.fsencode(shop_id)) <= _LONGEST_NAME
        and not shop_id.startswith(".")
        and "/" not in shop_id
        and "\0" not in shop_id
        and shop_id not in (DONE, FAILED)
    )


def is_service_file(name: str) -> bool:
    """Whether the service itself has put a file of this name there, or it is the report of one."""
    return name.startswith(COLLECTED) or bool(_PULLED.fullmatch(name))
