"""A batch that fails, whoever applies it."""

from tests.support.import_files import order
from tests.support.job_commands import Commands

SHOPS = [{"shop_id": name, "currency": "EUR"} for name in ("a.example", "b.example")]
# No import writes this; whatever reads it raises.
POISON = "UPDATE raw_order SET codes = 'no list' WHERE order_id = 'bad'"
CURE = "UPDATE raw_order SET codes = '[]' WHERE order_id = 'bad'"


def poisoned(commands: Commands) -> None:
    """Two shops; one of three batches of the first cannot be taken in."""
    commands.take("shops", SHOPS)
    commands.take("orders", [order(order_id="one")])
    commands("rollup")
    commands.take("orders", [order(order_id="bad")])
    commands.take("orders", [order(order_id="two")])
    commands.take("orders", [order(shop_id="b.example", order_id="three")])
    commands.change(POISON)
