"""A member and a browser of hers; passwords cost nothing, and each template and address is compiled once."""

from collections.abc import Callable
from types import CodeType
from typing import ClassVar

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from sqlalchemy import Engine
from werkzeug.routing import Rule

from tests.support.people import CHEAP, Browser, add_member
from tests.support.shop_builder import ShopBuilder
from web.auth import passwords


class CompiledTemplates(BytecodeCache):
    """Those of one application are the next one's: to compile a page's takes longer than to show it."""

    def __init__(self) -> None:
        self._compiled: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._compiled.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        assert bucket.code
        self._compiled[bucket.key, bucket.checksum] = bucket.code


class CompiledRule(Rule):
    """A rule that one application has compiled for an address is the next one's: it is most of what it
    takes to make an application."""

    _compiled: ClassVar[dict[tuple[str, str, bool], Callable[..., tuple[str, str]]]] = {}

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        key = (self.rule, repr(self.defaults), append_unknown)
        if key not in self._compiled:
            self._compiled[key] = super()._compile_builder(append_unknown)
        return self._compiled[key]


Flask.jinja_options = {**Flask.jinja_options, "bytecode_cache": CompiledTemplates()}
Flask.url_rule_class = CompiledRule


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords cost nothing."""
    monkeypatch.setattr(passwords, "_hasher", CHEAP)
    monkeypatch.setattr(passwords, "DUMMY_HASH", CHEAP.hash("nobody's"))


@pytest.fixture
def ada(engine: Engine, shop: ShopBuilder) -> str:
    return add_member(engine, shop)


@pytest.fixture
def browser(client: FlaskClient, ada: str) -> Browser:
    return Browser(client)
