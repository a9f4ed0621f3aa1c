"""Ids of texts."""

from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.domain.hash_ids import text_id, text_ids


@settings(deadline=None)
@given(st.lists(st.text(st.characters(codec=None, exclude_categories=()), max_size=20)))
def test_many_ids_are_those_of_the_single_texts(texts: list[str]) -> None:
    assert text_ids(texts) == [text_id(text) for text in texts]


def test_ids_are_stored_so_they_never_change() -> None:
    assert (text_id(""), text_id("a"), text_id("ü\0€")) == (
        0,
        3405396810240292928,
        7335301286676061412,
    )


@settings(deadline=None)
@given(st.text(min_size=1))
def test_an_id_is_a_64_bit_integer_other_than_0(text: str) -> None:
    assert text_id(text) != 0
    assert -(2**63) <= text_id(text) < 2**63
