"""The kit's Caddy before the API and the collector: HTTPS as a browser and a client of HTTP/2 have it.

Certificates are of Caddy's own authority, and all names of this computer. The Caddyfile is the kit's, with
what keeps this machine as it is: ports, no entry in the system's list of authorities.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from jobs.demo.cast import FINDER, SHOP_ID
from tests.conftest import WITHOUT_CADDY
from tests.support.commands import ROOT, Command, run
from tests.support.form_calls import call
from tests.support.serving import collected, free_port, served
from tests.support.shop_site import FORM, Site, fill_in
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.system.browser.conftest import NewContext
from warehouse.domain.vocabulary import PERMISSIONS

KIT = ROOT / "jobs" / "https"
MEMBER = ("--shop", SHOP_ID, "--email", "ada@example.com")
# Caddy comes from this address; clients are others of this computer.
CADDY, ADA, BEA = "127.0.0.1", "127.0.0.2", "127.0.0.3"

# Tracking calls that the collector takes from one address at once.
CALLS = 50


@dataclass(frozen=True)
class Https:
    pages: str
    collector: str
    authority: Path
    api: Command
    settings: dict[str, str]

    def curl(self, *words: str, of: str = ADA) -> str:
        options = ("-sS", "--cacert", str(self.authority), "--interface", of)
        done = subprocess.run(
            ["curl", *options, *words], capture_output=True, text=True, check=True
        )
        return done.stdout

    def status(self, *words: str, of: str = ADA) -> str:
        """The version of HTTP, and the status."""
        return self.curl("-o", os.devnull, "-w", "%{http_version} %{http_code}", *words, of=of)

    def sign_in(self, page: Page) -> None:
        words = ("members", "add", *MEMBER, "--permissions", ",".join(PERMISSIONS))
        run("web", *words, settings=self.settings)
        link = run("web", "members", "sign-in-link", *MEMBER, settings=self.settings)
        address = link.output.splitlines()[-1]
        assert address.startswith(f"{self.pages}/settings/sign-in/")
        page.goto(address)
        page.get_by_role("button", name="Continue as").click()
        expect(page).to_have_url(f"{self.pages}/")


def caddyfile(port: int) -> str:
    text = (KIT / "Caddyfile").read_text()
    own = f"""
    https_port {port}
    http_port {port + 1}
    admin localhost:{port + 2}
    skip_install_trust
    """
    # In the first block, of the options that are all sites'.
    return text.replace("\n{\n", f"\n{{{own}", 1)


@pytest.fixture
def https(site: Site, tmp_path: Path) -> Iterator[Https]:
    program = shutil.which("caddy")
    if program is None:
        pytest.skip(f"{WITHOUT_CADDY}there is no `caddy` on the PATH")
    port = free_port(3)
    pages, collector = f"https://stats.localhost:{port}", f"https://collect.localhost:{port}"
    settings = {
        "WAREHOUSE_URL": site.product.url,
        "IMPORT_DIR": str(site.landing),
        "PUBLIC_URL": pages,
        "COLLECT_URL": collector,
        "TRUSTED_PROXIES": CADDY,
    }
    few = settings | {"COLLECT_CALLS_PER_ADDRESS": str(CALLS)}
    (tmp_path / "Caddyfile").write_text(caddyfile(port))
    unit = (KIT / "caddy.conf").read_text()
    with (
        served(site.product.url, settings) as (api, api_port),
        collected(site.product.url, site.landing, few) as (_, collector_port),
        (tmp_path / "caddy.log").open("w") as log,
    ):
        own = {
            "HOST": "stats.localhost",
            "COLLECT_HOST": "collect.localhost",
            "API": f"127.0.0.1:{api_port}",
            "COLLECTOR": f"127.0.0.1:{collector_port}",
            "XDG_DATA_HOME": str(tmp_path),
            "XDG_CONFIG_HOME": str(tmp_path),
            **dict(re.findall(r"^Environment=(\w+)=(.*)$", unit, re.MULTILINE)),
        }
        words = [program, "run", "--config", str(tmp_path / "Caddyfile"), "--adapter", "caddyfile"]
        caddy = subprocess.Popen(words, env={**os.environ, **own}, stdout=log, stderr=log)
        try:
            made = Https(
                pages,
                collector,
                tmp_path / "caddy/pki/authorities/local/root.crt",
                api,
                settings,
            )
            wait_until(
                lambda: made.authority.exists() and _answers(made),
                (tmp_path / "caddy.log").read_text,
            )
            site.collector = collector
            yield made
        finally:
            caddy.terminate()
            caddy.wait(PATIENCE_SECONDS)


def _answers(https: Https) -> bool:
    try:
        return all("200" in https.status(f"{of}/healthz") for of in (https.pages, https.collector))
    except subprocess.CalledProcessError:
        return False


def test_a_member_signs_in_and_drops_256_megabytes(
    https: Https, site: Site, new_context: NewContext, tmp_path: Path
) -> None:
    page = new_context(ignore_https_errors=True).new_page()
    https.sign_in(page)
    (cookie,) = [one for one in page.context.cookies() if one["name"].endswith("member")]
    assert cookie["secure"]
    page.goto(f"{https.pages}/data")
    token = page.locator("[name=csrf_token]").first.input_value()
    file = tmp_path / "orders.csv"
    with file.open("wb") as orders:
        orders.write(b"order_id,total\n")
        orders.truncate(256_000_000)
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())
    form = ("-F", f"csrf_token={token}", "-F", f"file=@{file}", "-e", f"{https.pages}/data")
    answered = https.status(*form, "-b", cookies, f"{https.pages}/data/drop")
    assert answered == "2 303"
    (dropped,) = [
        one for one in site.landing.rglob("*") if one.is_file() and one.stat().st_size > 1e8
    ]
    assert dropped.stat().st_size == 256_000_000


def test_a_page_of_another_origin_sends_events(
    https: Https, site: Site, new_context: NewContext
) -> None:
    site.write(FORM)
    page = new_context(ignore_https_errors=True).new_page()
    page.goto(site.address)
    fill_in(page)
    wait_until(lambda: len(site.calls()) > 2, lambda: str(site.calls()))
    assert {call["form_id"] for call in site.calls()} == {FINDER.id}


def test_http_2_and_the_addresses_of_clients(https: Https, site: Site, tmp_path: Path) -> None:
    forged = ("-H", "X-Forwarded-For: 6.6.6.6")
    headers = https.curl("-I", f"{https.pages}/healthz")
    assert headers.startswith("HTTP/2 200")
    assert "strict-transport-security: " in headers.lower()
    assert https.status(*forged, f"{https.pages}/v1/forms") == "2 401"
    (line,) = [one for one in https.api.errors.splitlines() if '"path":"/v1/forms"' in one]
    assert json.loads(line)["clientAddress"] == ADA
    # The limits of the collector count each client, whoever it says it is. A use comes back in 1.2 s, and a
    # batch may owe the rest: so a slow machine sees a second 200, and no third within a minute.
    batch = {"writeKey": site.key, "batch": [call("f", second) for second in range(CALLS)]}
    (tmp_path / "batch").write_text(json.dumps(batch))
    sent = (*forged, "-H", "Content-Type: text/plain", "-d", f"@{tmp_path / 'batch'}")
    address = f"{https.collector}/v1/batch"
    answers = [https.status(*sent, address, of=ADA) for _ in range(22)]
    assert answers[0] == "2 200"
    # A refused client's connection to the collector is not another's: none is a 502.
    assert set(answers) == {"2 200", "2 429"}
    assert answers.count("2 429") >= 20
    assert https.status(*sent, address, of=BEA) == "2 200"
