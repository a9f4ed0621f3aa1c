"""How much a random test tries: little in `make test` and `make test-all`, much in `make test-deep`.

`make test-deep` gives larger numbers in the environment, and the hypothesis profile `deep`; the profile
`usual` is that of `make test-all`, which tries what `make test` tries once more with it.
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

# Examples of a test that asks for no number of its own, by hypothesis profile.
_PROFILES: Final = {"quick": 40, "usual": 100, "deep": 2_000}


def register_profiles() -> None:
    """The profiles of hypothesis: `quick` is loaded; `make test-all` goes on with `usual`."""
    for name, count in _PROFILES.items():
        # How fast the machine is decides about no test.
        settings.register_profile(
            name,
            max_examples=count,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        )
    settings.load_profile("quick")


def examples(count: int) -> settings:
    """Settings of a test that tries `count` examples in the usual profile."""
    return settings(max_examples=count * settings().max_examples // _PROFILES["usual"])
