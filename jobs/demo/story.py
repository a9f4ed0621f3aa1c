"""The days in order: who visits which form when, and the events and orders that follow."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from jobs.demo.cast import CAMPAIGNS, FORMS, ZONE, Campaign
from jobs.demo.people import new_visitors, randomness, returning_visitor, visits_on
from jobs.demo.purchases import Order, as_exported, orders_after, orders_without_form
from jobs.demo.visits import Event, Visit, play

# Weights of the hours of the shop's day.
_HOURS = (3, 2, 1, 1, 1, 2, 4, 6, 8, 9, 10, 10, 11, 11, 10, 10, 10, 11, 12, 14, 15, 13, 9, 6)
_DIRECT: Campaign = CAMPAIGNS[0]


def events_and_orders(
    days: list[date], now: datetime
) -> Iterator[tuple[date, list[Event], list[Order]]]:
    """Each day with its events and orders until `now`.

    An order belongs to the day of the visit that led to it, however much later it comes.
    """
    for day in days:
        chance, newcomers = randomness("day", day), new_visitors(day)
        visits = []
        for number in range(visits_on(day)):
            is_new = number < len(newcomers)
            visitor = newcomers[number] if is_new else returning_visitor(day, chance)
            campaign = visitor.campaign if is_new or chance.random() < 0.4 else _DIRECT
            form = chance.choices(FORMS, [form.share for form in FORMS])[0]
            hour = chance.choices(range(24), _HOURS)[0]
            minute, second = chance.randrange(60), chance.randrange(60)
            moment = time(hour, minute, second, chance.randrange(1000) * 1000)
            # In UTC, since the visit's own times are added to it.
            at = datetime.combine(day, moment, ZONE).astimezone(UTC)
            visit = Visit(f"s_{day:%y%m%d}{number:04d}", form, visitor, campaign, at)
            visits.append(play(visit, chance))
        orders = list(orders_without_form(day, datetime.combine(day, time(), ZONE)))
        for visit in visits:
            orders += orders_after(visit, randomness(f"after {visit.id}", day))
        events = [event for visit in visits for event in visit.events]
        exported = (as_exported(order, now) for order in orders)
        yield (
            day,
            [event for event in events if datetime.fromisoformat(event["occurred_at"]) <= now],
            [order for order in exported if order],
        )


def days_until(last: date, count: int) -> list[date]:
    """So many days, the last one included, in order."""
    return [last - timedelta(days=back) for back in reversed(range(count))]
