"""All events of each form: says in which days a form was alive at all."""

import pandas as pd

from jobs.rollups.summing import part, total


def rollup(events: pd.DataFrame) -> pd.DataFrame:
    """Events by form, on their day. `events`: edition, day, form; a row per event.

    The one rollup of raw events instead of facts: an event that moved no milestone counts too.
    """
    return total("activity", part(events, events=1))
