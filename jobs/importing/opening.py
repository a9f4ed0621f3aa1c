"""A file as portions of rows, be they the contract's own or those of a foreign format."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jobs.importing.formats import FORMATS, mapping
from jobs.importing.formats.format import Format, Target
from jobs.importing.formats.recognition import format_of
from jobs.importing.kind import Kind
from jobs.importing.portion import Portion, Unreadable
from jobs.importing.shops import Shops
from jobs.importing.sources import source_of


class WhichShop(Unreadable):
    """The shop that a file's records belong to was not named, and there are several."""


@dataclass(frozen=True)
class Given:
    """What is said of a file besides its kind: its format, where it is a foreign one, and the shop
    that it is of."""

    format: Format | None = None
    shop_id: str | None = None


NOTHING: Final = Given()


def portions_of(path: Path, kind: Kind, given: Given, shops: Shops) -> Iterator[Portion]:
    """The portions of a file.

    Raises Unreadable at once where it cannot be read at all, or is of another format or kind; then
    also OSError.
    """
    format = format_of(path, kind, given.format, tuple(FORMATS.values()))
    if format is None:
        source = source_of(path)
        if given.shop_id is not None:
            raise Unreadable(
                f"{path}: looks like no other system's export, and own rows name their shop"
            )
        return source(path, kind.fields, kind.private)
    target = target_of(path, format, given.shop_id, shops)
    return mapping.portions(format, kind, target, format.records(path))


def target_of(path: Path, format: Format, shop_id: str | None, shops: Shops) -> Target:
    """The shop that is meant: the one named, or the only one. Raises Unreadable."""
    if not format.of_shop:
        return Target()
    if shop_id is None:
        whose = f"{path}: {format.name} does not say which shop it is of"
        if not shops.keys:
            raise Unreadable(f"{whose}, and there is none: import it first (kind shops)")
        if len(shops.keys) > 1:
            raise WhichShop(f"{whose}, and there are {len(shops.keys)}: name it")
        shop_id = next(iter(shops.keys))
    if shop_id not in shops.keys:
        raise Unreadable(f"{path}: no shop {shop_id!r}; import it first (kind shops)")
    return Target(shop_id, shops.currencies[shops.keys[shop_id]])
