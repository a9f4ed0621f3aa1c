"""`demo`: a made-up shop, imported as any user would; then a key, a link to sign in, and the service itself.

Beside the API run the collector, the scheduler, and a page with forms whose clicks reach the figures. Their
lines go to a log: the link stays the last thing on the terminal.
"""

import os
import sys
import time
import webbrowser
from pathlib import Path
from typing import Final

import click
from sqlalchemy import make_url

from jobs import demo
from jobs.commands.processes import output_of, require_free, run_together, run_within
from jobs.demo.cast import QUIZ, SHOP_ID
from jobs.demo.files import write
from jobs.run.errors import CommandFailed
from warehouse import command
from warehouse.domain.time import from_micros, now_micros
from warehouse.domain.vocabulary import PERMISSIONS, SCOPES
from warehouse.settings import DATA_DIR, HOST, PORT, WAREHOUSE_URL

_EMAIL: Final = "demo@example.com"
_MEMBER: Final = ("--shop", SHOP_ID, "--email", _EMAIL)
# The name of the write key for the demo's page with forms.
_PAGE: Final = "demo page"


def demo_command(folder: Path | None, days: int, files_only: bool) -> None:
    if not files_only:
        require_free((PORT, HOST.get(), PORT.get() + number) for number in range(3))
    folder, began = folder or Path(DATA_DIR.get()) / "demo", time.monotonic()
    files = write(folder, from_micros(now_micros()), days)
    click.echo(f"wrote {days} days of {SHOP_ID} to {folder} in {time.monotonic() - began:.1f} s")
    if files_only:
        return
    # Where the demo keeps what is its own: beside a warehouse that is a file, else in DATA_DIR.
    url, beside = make_url(WAREHOUSE_URL.get()), Path(DATA_DIR.get()) / "demo"
    if url.get_backend_name() == "sqlite" and url.database:
        beside = Path(url.database.removesuffix(".db"))
    os.environ.setdefault("IMPORT_DIR", f"{beside}-landing")
    os.environ.setdefault("REFRESH_MINUTES", "1")
    for kind, paths in files.items():
        _run("import", kind, *map(str, paths))
    _run("rollup", "--shop", SHOP_ID)
    _serve(beside)


def _run(*words: str) -> None:
    click.echo(f"$ {command(' '.join(('jobs', *words)))}")
    run_within(*words)


def _serve(beside: Path) -> None:
    port = int(PORT.get())
    api, collector, page = (f"http://localhost:{port + number}" for number in range(3))
    os.environ.setdefault("PUBLIC_URL", api)
    # Each process takes two seconds of a processor to begin.
    os.environ.setdefault("WORKERS", "1")
    os.environ |= {"PORT": str(port), "COLLECT_URL": collector}
    # A key is shown once, so the demo keeps its own.
    scopes = ("--shop", SHOP_ID, "--scopes", ",".join(SCOPES))
    key = _last_line("keys", "mint", "--name", "demo", "--file", f"{beside}.key", *scopes)
    folder = Path(f"{beside}-page")
    folder.mkdir(parents=True, exist_ok=True)
    sample = Path(demo.__file__).with_name("page") / "index.html"
    html = sample.read_text("utf-8").replace("COLLECTOR", collector)
    # The key of the page. From any page: another run may have another port.
    own = ("write-keys", "create", "--shop", SHOP_ID, "--name", _PAGE, "--origins", "*")
    keys = output_of("web", "write-keys", "list", "--shop", SHOP_ID).splitlines()
    active = [line.split()[0] for line in keys if " active " in line and line.endswith(_PAGE)]
    write_key = active[0] if active else _last_line(*own)
    (folder / "index.html").write_text(html.replace("WRITE_KEY", write_key), "utf-8")
    # It fails from the second run on, when the member exists; any other error shows at the next command.
    may = ("--permissions", ",".join(PERMISSIONS))
    output_of("web", "members", "add", *_MEMBER, *may, quiet=True)
    link = _last_line("members", "sign-in-link", *_MEMBER)
    log = Path(f"{beside}.log")

    def show() -> None:
        click.echo(_text(api, page, key, log, link))
        # Only where there is a screen: a browser of the terminal would hide what was printed.
        screens = map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))
        if sys.platform == "darwin" or any(screens):
            webbrowser.open(link)

    processes = {
        "api": ("web", "serve", "--port", str(port)),
        "collector": ("web", "collect", "--port", str(port + 1), "--workers", "1"),
        "scheduler": ("jobs", "scheduler"),
        "page": ("http.server", str(port + 2), "--bind", "127.0.0.1", "--directory", str(folder)),
    }
    with log.open("w", encoding="utf-8", buffering=1) as lines:
        run_together(processes, lambda name, line: print(name, line, sep=" | ", file=lines), show)


def _last_line(*words: str) -> str:
    lines = output_of("web", *words).splitlines()
    if not lines:
        raise CommandFailed(f"`{' '.join(words[:2])}` failed; the line above says why")
    return lines[-1]


def _text(api: str, page: str, key: str, log: Path, link: str) -> str:
    ask = 'curl -H "Authorization: Bearer $KEY"'
    return f"""
The demo shop is ready. For programs, this key opens every endpoint, and {api}/docs tries them out:

  export KEY={key}

  {ask} "{api}/v1/forms/funnel?range=90d"
  {ask} "{api}/v1/forms/{QUIZ.id}/steps/dropoff"
  {ask} "{api}/v1/attribution"

Three forms to fill in, whose events are in the figures within two minutes:

  {page}/

The lines of the service are in {log}. Stop with Ctrl-C.

The shop's figures as pages: the button behind this link signs you in. It works once, within an hour:

  {link}
"""
