"""Forms that no page marks: what the tests of them in a browser have in common."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Route

from tests.support import popups
from tests.support.shop_site import ADDRESS, Call, Site
from tests.support.waiting import wait_until

# Views, starts, subscriptions, completions and submissions of a form that was sent once.
ALL = (1, 1, 1, 1, 1)
# Pages that behave as pop-up tools' documents say.
POPUPS = Path(popups.__file__).parent
PHONE = "0170 1234567"
STAY = "<script>addEventListener('submit', (event) => event.preventDefault())</script>"


def send(form: Locator) -> None:
    form.locator("[type=email]").fill(ADDRESS)
    form.get_by_role("button").click()


def await_types(site: Site, **counts: int) -> None:
    """Wait until so many events of each type have come, and no others but answers and starts."""

    def found() -> dict[str, int]:
        types = [call["type"] for call in site.calls()]
        return {type: types.count(type) for type in set(types) - {"answer", "start"}}

    wait_until(
        lambda: found() == counts,
        lambda: str([(call["type"], call["form_id"]) for call in site.calls()]),
    )


def ids_of(site: Site) -> dict[str, str]:
    """The id of each form that was viewed, by its name."""
    return {call["form_name"]: call["form_id"] for call in site.calls() if call["type"] == "view"}


def of_type(site: Site, type: str) -> list[Call]:
    return [call for call in site.calls() if call["type"] == type]


def answer_with(file: str) -> Callable[[Route], None]:
    """A host of a tool, which answers with a file of ours."""
    kind = "text/html" if file.endswith("html") else "text/javascript"
    return lambda route: route.fulfill(body=(POPUPS / file).read_text(), content_type=kind)
