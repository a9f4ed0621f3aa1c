"""The strip below the days of every page: what of the shop's data needs a person, in a sentence each."""

from typing import Final

from warehouse import settings
from warehouse.operations import shop_state
from warehouse.operations.shop_state import ShopState, needs

# By the name of the condition, which is also its place on the Data page.
_SENTENCES: Final = {
    shop_state.SET_ASIDE: "Some imports fail and are in no figure.",
    shop_state.DIFFERENCES: "Some figures differ from the imported rows.",
    shop_state.NO_REFRESH: "The figures are not refreshed any more.",
    shop_state.BACKLOG: "Imported rows have waited too long to be in the figures.",
    shop_state.REJECTS: "Some rows could not be imported.",
    shop_state.PULLS: "Some data are not pulled any more.",
}


def attention(state: ShopState, now: int) -> list[tuple[str, str]]:
    """(place on the Data page, sentence) of each condition."""
    names = needs(state, now, settings.REFRESH_MINUTES.get())
    return [(name, _SENTENCES[name]) for name in names]
