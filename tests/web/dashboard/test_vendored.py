"""The files of others that the pages bring along: unchanged, listed, and few."""

import base64
import hashlib
import json
import re
from pathlib import Path

import web.dashboard
import web.pages
from tests.support.people import Browser
from tests.web.dashboard.conftest import Seen

STATIC = Path(web.dashboard.__file__).parent / "static"
VENDOR = STATIC / "vendor"
MANIFEST = VENDOR / "manifest.json"
# Bytes of all scripts of the pages.
MAX_SCRIPTS = 62_000


def test_every_file_is_as_it_was_published() -> None:
    listed: dict[str, str] = {}
    for package in json.loads(MANIFEST.read_text()):
        assert set(package) == {"name", "version", "integrity", "licence", "files"}
        assert re.fullmatch(r"\d+\.\d+\.\d+", package["version"])
        kind, _, digest = package["integrity"].partition("-")
        assert kind == "sha512"
        assert len(base64.b64decode(digest, validate=True)) == 64
        assert any(name.endswith("/LICENSE") for name in package["files"])
        listed |= package["files"]
    found = {
        path.relative_to(VENDOR).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.rglob("*")
        if path.is_file() and path != MANIFEST
    }
    assert found == listed
    assert "uPlot" in (VENDOR / "uplot/uPlot.iife.min.js").read_text()


def test_scripts_are_small() -> None:
    folders = (STATIC, Path(web.pages.__file__).parent / "static")
    scripts = [path for folder in folders for path in folder.rglob("*.js")]
    assert {"dashboard.js", "uPlot.iife.min.js"} <= {path.name for path in scripts}
    assert sum(path.stat().st_size for path in scripts) <= MAX_SCRIPTS


def test_browsers_may_keep_them(seen: Seen) -> None:
    """They are everyone's: without a sign-in they neither lead away nor set a cookie."""
    stranger = Browser(seen.browser.client)
    for name in ("dashboard.js", "dashboard.css", "vendor/uplot/uPlot.iife.min.js"):
        answer = stranger.get(f"/settings/static/dashboard/{name}")
        assert answer.status_code == 200
        assert "Set-Cookie" not in answer.headers
        assert "no-store" not in answer.headers["Cache-Control"]
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        answer.close()
