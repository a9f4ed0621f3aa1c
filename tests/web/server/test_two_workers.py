"""On the real server, with two workers: what one of them ends is over in both."""

import re
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlencode

from sqlalchemy import Engine

from tests.support.commands import run_web
from tests.support.people import CONNECTIONS, NEW, PASSWORD, SIGN_IN, add_member
from tests.support.serving import ask, served
from tests.support.shop_builder import ShopBuilder
from tests.support.waiting import PATIENCE_SECONDS


class Person:
    """Keeps cookies; every request is on a connection of its own, so of either worker."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookies: dict[str, str] = {}

    def request(self, method: str, path: str, body: str = "", **headers: str) -> tuple[int, str]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if body:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        connection.request(method, path, body, sent)
        answer: HTTPResponse = connection.getresponse()
        self.said = answer.headers.get_all("Set-Cookie") or []
        self.cookies |= dict(line.partition(";")[0].split("=", 1) for line in self.said)
        page = answer.read().decode()
        connection.close()
        return answer.status, page

    def post(self, path: str, **fields: str) -> tuple[int, str]:
        form = self.request("GET", path)[1].rpartition("<form")[2]
        hidden = dict(re.findall(r'type="hidden"[^>]* name="(\w+)"[^>]* value="([^"]*)"', form))
        hidden |= dict(re.findall(r'name="(once)" type="hidden" value="([^"]*)"', form))
        return self.request("POST", path, urlencode({**hidden, **fields}))


def test_the_workers_agree(warehouse_url: str, engine: Engine, shop: ShopBuilder) -> None:
    email = add_member(engine, shop)
    with served(warehouse_url) as (_, port):
        ada = Person(port)
        # Nobody is believed without TRUSTED_PROXIES, not even this machine.
        ada.request("GET", SIGN_IN, X_Forwarded_Proto="https", X_Forwarded_For="192.0.2.1")
        assert ada.said
        assert not any("Secure" in line for line in ada.said)
        assert ada.post(SIGN_IN, email=email, password=PASSWORD)[0] == 302
        assert {ada.request("GET", CONNECTIONS)[0] for _ in range(8)} == {200}
        status, page = ada.post(NEW, name="x", scopes="analytics:read")
        key = re.search(r'<code id="key">([^<]+)<', page)
        assert (status, bool(key)) == (200, True)
        assert key
        assert {ask(port, "GET", "/v1/forms", key[1])[0] for _ in range(8)} == {200}
        rotate = re.search(r'href="([^"]+)/rotate"', ada.request("GET", CONNECTIONS)[1])
        assert rotate
        assert ada.post(f"{rotate[1]}/revoke")[0] == 302
        assert {ask(port, "GET", "/v1/forms", key[1])[0] for _ in range(8)} == {401}
        who = ("--shop", shop.shop_id, "--email", email)
        assert run_web(warehouse_url, "members", "disable", *who).status == 0
        assert {ada.request("GET", CONNECTIONS)[0] for _ in range(8)} == {302}
