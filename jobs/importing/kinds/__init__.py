"""The kinds of files that can be imported: the fields of each, its checks, and how its rows are written.

A kind of rows that are only ever added builds on `append_only`, one whose rows are replaced on
`replace_last`. Start with `base`. How one value is read is in `values/`.
"""

from typing import Final

from jobs.importing.kinds.accounts_and_rates import AdAccountsKind, ExchangeRatesKind
from jobs.importing.kinds.ad_spend import AdSpendKind
from jobs.importing.kinds.base import Kind
from jobs.importing.kinds.events import EventsKind
from jobs.importing.kinds.forms import FormsKind
from jobs.importing.kinds.orders import OrdersKind
from jobs.importing.kinds.shops import ShopsKind

# The order of a retry of rejects: rows come after those they refer to.
KINDS: Final[dict[str, Kind]] = {
    kind.name: kind
    for kind in (
        ShopsKind(),
        FormsKind(),
        EventsKind(),
        OrdersKind(),
        AdSpendKind(),
        AdAccountsKind(),
        ExchangeRatesKind(),
    )
}
