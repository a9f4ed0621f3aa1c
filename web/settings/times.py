"""Times as people read them."""

from markupsafe import Markup, escape

from warehouse.days import from_micros, iso_millis


def time_element(instant: int) -> Markup:
    """`31 Mar 2026, 12:00 UTC`, as an element that states the instant exactly."""
    text = from_micros(instant).strftime("%d %b %Y, %H:%M UTC").lstrip("0")
    return Markup('<time datetime="{}">{}</time>').format(iso_millis(instant), escape(text))
