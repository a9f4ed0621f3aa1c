"""Ids of forms of other systems."""

import pytest

from warehouse.domain.hash_ids import form_id_of, is_uuid

UUID = "0190c4a2-5b7e-7c3d-8f1a-2b3c4d5e6f70"


@pytest.mark.parametrize("id", [UUID, UUID.upper()])
def test_a_uuid_stays(id: str) -> None:
    assert form_id_of("a.example", "segment", id) == UUID


def test_an_id_is_the_same_everywhere() -> None:
    # It is part of the stored data: it must never change.
    assert form_id_of("a.example", "segment", "popup-1") == "28b0a3bf-3ba2-5b48-8e25-65102735ba66"


@pytest.mark.parametrize(
    "other",
    [
        ("b.example", "segment", "popup-1"),
        ("a.example", "other", "popup-1"),
        ("a.example", "segment", "Popup-1"),
        ("a.example", "segment", "popup-1 "),
        ("a.examples", "egment", "popup-1"),
        ("a.example", "segment", UUID.replace("-", "")),
    ],
)
def test_other_texts_have_other_ids(other: tuple[str, str, str]) -> None:
    found = form_id_of(*other)
    assert is_uuid(found)
    assert found != form_id_of("a.example", "segment", "popup-1")
