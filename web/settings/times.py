"""Times as people read them."""

from markupsafe import Markup

from warehouse.days import from_micros, iso_millis
from web.expiry import shown_end


def time_element(instant: int) -> Markup:
    """`31 Mar 2026, 12:00 UTC`, as an element that states the instant exactly."""
    return _element(instant, from_micros(instant).strftime("%d %b %Y, %H:%M UTC").lstrip("0"))


def end_element(instant: int) -> Markup:
    """When a key stops."""
    return _element(instant, shown_end(instant))


def _element(instant: int, text: str) -> Markup:
    return Markup('<time datetime="{}">{}</time>').format(iso_millis(instant), text)
