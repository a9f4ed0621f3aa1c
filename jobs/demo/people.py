"""The visitors: each has a first day, and depends on that day alone."""

import math
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from random import Random

from jobs.demo.cast import CAMPAIGNS, Campaign

SEED = "formrevenue demo 1"
VISITS_A_DAY = 360
_NEW_VISITORS = 0.72
DEVICES = {"mobile": 62, "desktop": 30, "tablet": 6, "other": 2}
# Monday first.
_WEEK = (0.98, 0.95, 0.96, 1.0, 0.9, 1.06, 1.2)
_FIRST = [
    "ada", "ben", "cleo", "dan", "eve", "finn", "gia", "hugo", "iris", "jon",
    "kim", "leo", "mia", "noa", "ole", "pia", "quin", "rosa", "sam", "tess",
]  # fmt: skip
_LAST = [
    "adams", "brook", "chen", "diaz", "evans", "fox", "gupta", "hill", "ito", "jones",
    "khan", "lopez", "moore", "nair", "ortiz", "park",
]  # fmt: skip


@dataclass(frozen=True)
class Visitor:
    """One person on one device; `keenness` multiplies the chance of an order."""

    id: str
    device: str
    email: str
    has_account: bool
    keenness: float
    campaign: Campaign

    @property
    def customer_id(self) -> str:
        return f"cus_{self.id[2:]}"


def randomness(topic: str, day: date) -> Random:
    """A random generator that depends on the topic and the day alone."""
    return Random(f"{SEED} {topic} {day.isoformat()}")


def visits_on(day: date) -> int:
    """The number of visits on a day; it varies with the week and the year."""
    season = 1 + 0.22 * math.sin(2 * math.pi * (day.timetuple().tm_yday - 240) / 365)
    noise = randomness("visits", day).uniform(0.92, 1.08)
    return round(VISITS_A_DAY * _WEEK[day.weekday()] * season * noise)


@lru_cache(maxsize=512)
def new_visitors(day: date) -> tuple[Visitor, ...]:
    """The visitors whose first day this is."""
    chance = randomness("visitors", day)
    running = [campaign for campaign in CAMPAIGNS if campaign.runs(day)]
    weights = [campaign.weight for campaign in running]
    people = []
    for number in range(round(visits_on(day) * _NEW_VISITORS)):
        name = f"{chance.choice(_FIRST)}.{chance.choice(_LAST)}"
        people.append(
            Visitor(
                id=f"v_{day:%y%m%d}{number:04d}",
                device=chance.choices(list(DEVICES), list(DEVICES.values()))[0],
                email=f"{name}.{day:%y%m%d}{number:04d}@example.com",
                has_account=chance.random() < 0.12,
                keenness=chance.lognormvariate(-0.15, 0.5),
                campaign=chance.choices(running, weights)[0],
            )
        )
    return tuple(people)


def returning_visitor(day: date, chance: Random) -> Visitor:
    """A visitor of an earlier day: a recent or a keen one is more likely."""
    candidates = [
        chance.choice(new_visitors(day - timedelta(days=1 + int(chance.expovariate(1 / 9)))))
        for _ in range(2)
    ]
    return max(candidates, key=lambda visitor: visitor.keenness)
