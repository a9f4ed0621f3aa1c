import pytest

from warehouse.domain.landing_names import can_be_folder


def test_domains_can_be_folders() -> None:
    assert can_be_folder("example.myshopify.com")
    assert can_be_folder("é" * 127)


@pytest.mark.parametrize(
    "shop_id", ["", ".", "..", ".hidden", "a/b", "../a", "a\0b", "done", "failed", "é" * 128]
)
def test_ids_that_cannot(shop_id: str) -> None:
    assert not can_be_folder(shop_id)
