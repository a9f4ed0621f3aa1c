"""What a container may take of its host has a bound, and its image a whole version."""

import re

import pytest

from tests.system.test_kit import COMPOSE, CONTAINERFILE


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_every_container_has_limits(name: str) -> None:
    service = COMPOSE["services"][name]
    assert re.fullmatch(r"\$\{\w*MEMORY:-\d+g\}", service["mem_limit"])
    assert service["pids_limit"] > 0
    assert all(re.search(":size=[0-9]+m$", place) for place in service["tmpfs"])


def test_images_have_a_whole_version() -> None:
    database = COMPOSE["services"]["database"]["image"]
    (base,) = re.findall(r"^ARG BASE=(.*)$", CONTAINERFILE, re.MULTILINE)
    for image in (database, base):
        assert re.search(r":\d+\.\d+[\w-]*\}?$", image), image


def test_the_image_keeps_no_installer() -> None:
    assert ".venv/bin/pip uninstall -qqy setuptools pip" in CONTAINERFILE
