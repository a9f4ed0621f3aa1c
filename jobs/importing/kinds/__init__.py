"""The kinds of raw input, by the name that the command knows them by."""

from typing import Final

from jobs.importing.kind import Kind
from jobs.importing.kinds.ad_accounts import AdAccounts
from jobs.importing.kinds.ad_spend import AdSpend
from jobs.importing.kinds.events import Events
from jobs.importing.kinds.exchange_rates import ExchangeRates
from jobs.importing.kinds.forms import Forms
from jobs.importing.kinds.orders import Orders
from jobs.importing.kinds.shops import Shops

# A retry of rejects goes through them in this order: what rows refer to comes first.
KINDS: Final[dict[str, Kind]] = {
    kind.name: kind
    for kind in (
        Shops(),
        Forms(),
        Events(),
        Orders(),
        AdSpend(),
        AdAccounts(),
        ExchangeRates(),
    )
}
