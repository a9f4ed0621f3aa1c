"""Names in the landing folder that both rooms know: jobs read there, and the collector writes there."""

import os
from typing import Final

# Beside the files, for those that were read and those that could not be.
DONE: Final = "done"
FAILED: Final = "failed"
# How the names of the collector's files begin.
COLLECTED: Final = "collected-"
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
