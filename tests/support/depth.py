"""How much a random test tries: little in `make test` and `make test-all`, much in `make test-deep`.

`make test-deep` gives larger numbers in the environment, and the hypothesis profile `deep`.
"""

import os
from typing import Final

from hypothesis import HealthCheck, settings

# An example of an invariant goes through some ten commands and a thousand requests. The first example is
# always the simplest world.
INVARIANT_EXAMPLES: Final = int(os.environ.get("INVARIANT_EXAMPLES", "2"))
# Requests that schemathesis generates for each endpoint.
REQUEST_EXAMPLES: Final = int(os.environ.get("REQUEST_EXAMPLES", "2"))
# Faults that hit the commands on each database.
FAULTS: Final = int(os.environ.get("FAULTS", "5"))
# Events of a night on several hosts, of a shop per hundred: while something fails, and undisturbed.
HOSTS_EVENTS: Final = int(os.environ.get("HOSTS_EVENTS", "200000"))
FULL_HOSTS_EVENTS: Final = int(os.environ.get("FULL_HOSTS_EVENTS", "1000000"))

_USUAL: Final = 100
_TIMES_DEEPER: Final = 20


def register_profiles() -> None:
    """The profiles of hypothesis: `usual` is loaded, `--hypothesis-profile deep` tries 20 times as much."""
    for name, count in (("usual", _USUAL), ("deep", _USUAL * _TIMES_DEEPER)):
        # How fast the machine is decides about no test.
        settings.register_profile(
            name,
            max_examples=count,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        )
    settings.load_profile("usual")


def examples(count: int) -> settings:
    """Settings of a test that tries `count` examples in the usual profile."""
    return settings(max_examples=count * settings().max_examples // _USUAL)
