"""The settings of a process, before it begins: those of ENV_FILE are added, and all are checked that it uses.

Start with `prepare`.
"""

import ctypes
import os
import pwd
import re
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from warehouse import settings
from warehouse.setting_values import Setting, SettingError
from warehouse.settings import ENV_FILE, SETTINGS, replica_url

# Kinds of processes: `serve`; `collect`; `scheduler`, `status` and `run`; the other commands of `jobs`; and
# those of `web` that manage shops, keys and members.
API: Final = "api"
COLLECTOR: Final = "collector"
SCHEDULER: Final = "scheduler"
JOBS: Final = "jobs"
ADMIN: Final = "admin"

_OF_JOBS: Final = (
    settings.ATTRIBUTION_WINDOW_DAYS,
    settings.REJECTS_DAYS,
    settings.RAW_DAYS,
    settings.IMPORTS_DAYS,
    settings.RUNS_DAYS,
    settings.AUDIT_DAYS,
    settings.LANDED_DAYS,
    settings.BATCH_MAX_ATTEMPTS,
    settings.EXECUTOR,
    settings.IMPORT_DIR,
    settings.IMPORT_MEMORY_MB,
    settings.IMPORT_MINUTES,
    settings.PULL_MAX_MB,
    settings.FORMS_PER_SHOP,
    settings.CREDENTIALS_KEY,
    settings.SHOPIFY_CLIENT_ID,
    settings.SHOPIFY_CLIENT_SECRET,
    # Those of the API that `start` starts.
    settings.HOST,
    settings.PORT,
)
_OF_ADMIN: Final = (settings.HOST, settings.PORT, settings.PUBLIC_URL)
# The settings that not every process uses, by those that do.
_USED: Final = {
    JOBS: _OF_JOBS,
    SCHEDULER: (
        *_OF_JOBS,
        settings.NIGHTLY_CRON,
        settings.VERIFY_CRON,
        settings.PURGE_CRON,
        settings.REFRESH_MINUTES,
        settings.LANDING_POLL_SECONDS,
    ),
    ADMIN: _OF_ADMIN,
    API: (
        *_OF_ADMIN,
        settings.READ_WAREHOUSE_URL,
        settings.WORKERS,
        settings.METRICS_HOST,
        settings.METRICS_PORT,
        settings.TRUSTED_PROXIES,
        settings.CORS_ORIGINS,
        settings.RATE_LIMIT,
        settings.REFRESH_MINUTES,
        settings.FORMS_PER_SHOP,
        settings.FORM_BYTES_PER_SHOP,
        settings.ATTRIBUTION_WINDOW_DAYS,
        settings.REJECTS_DAYS,
        settings.SECRET_KEY,
        # Those of the page that takes files.
        settings.UPLOAD_MB,
        settings.IMPORT_DIR,
        settings.IMPORTS_DAYS,
        # Those of the pages that set up a shop.
        settings.CREDENTIALS_KEY,
        settings.COLLECT_HOST,
        settings.COLLECT_PORT,
        settings.COLLECT_URL,
    ),
    COLLECTOR: (
        settings.COLLECT_HOST,
        settings.COLLECT_PORT,
        settings.COLLECT_WORKERS,
        settings.COLLECT_CALLS_PER_ADDRESS,
        settings.COLLECT_CALLS_PER_KEY,
        settings.COLLECT_MB_PER_SHOP,
        settings.COLLECT_METRICS_PORT,
        settings.METRICS_HOST,
        settings.TRUSTED_PROXIES,
        # over HTTPS, browsers come no other way
        settings.PUBLIC_URL,
        settings.IMPORT_DIR,
    ),
}

_PR_SET_DUMPABLE: Final = 4
# Names that are taken for misspelt: their least length, and how alike they are (`difflib`).
_LONG: Final = 8
_ALIKE: Final = 0.85
_DEFAULT_FILE: Final = Path(__file__).parents[1] / ENV_FILE.default
# KEY=VALUE. A value is in single quotes, as it is; in double quotes, where \ stands before " and \; or in
# none, up to a # after a space.
_LINE: Final = re.compile(
    r"""\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(?:'([^']*)'|"((?:[^"\\]|\\.)*)"|([^\s'"#]\S*(?:\s+[^\s#]\S*)*|))"""
    r"\s*(?:#.*)?",
    re.ASCII,
)


class WrongSettings(SettingError):
    """Settings that cannot be used. The message has a line for each."""


def uses(process: str, setting: Setting) -> bool:
    """Whether such a process uses a setting."""
    return setting in _USED[process] or not any(setting in used for used in _USED.values())


def prepare(process: str) -> None:
    """Add the settings of ENV_FILE to the environment, and check all that such a process uses. Raises
    WrongSettings."""
    wrong = _add_env_file()
    for setting in SETTINGS:
        if setting.former_name and setting.former_name in os.environ:
            wrong.append(
                f"{setting.former_name} is now called {setting.name}: rename it in the environment"
            )
        if uses(process, setting):
            try:
                setting.get()
            except SettingError as error:
                wrong.append(str(error))
    if not wrong:
        try:
            _refuse_root()
            if process == API:
                replica_url()
        except SettingError as error:
            wrong.append(str(error))
    if wrong:
        raise WrongSettings("\n".join(wrong))
    for warning in _nearly_settings():
        print(f"Warning: {warning}", file=sys.stderr)  # noqa: T201
    hide_memory()


def _nearly_settings() -> Iterator[str]:
    """Sentences on variables that are probably misspelt settings: nothing reads them."""
    names = {setting.name for setting in SETTINGS}
    names |= {f"{name}_FILE" for name in names}
    # Short names, such as HOST, are like many that others use.
    long = [name for name in names if len(name) >= _LONG]
    for variable in sorted(os.environ.keys() - names):
        for name in get_close_matches(variable, long, 1, _ALIKE):
            yield f"{variable} is set, and no setting is called so: is {name} meant?"


def hide_memory() -> None:
    """Keep other programs of the same user from reading the memory and the environment of this process, which
    have its secrets (on Linux): those of `pulls`, for example. A debugger has to be root's, and there are no
    core dumps. It does not reach processes that this one starts."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0)


def _refuse_root() -> None:
    """Raise SettingError where root would leave files beside a warehouse that its owner could not open."""
    # Imported here: a mistyped command is answered without it.
    from sqlalchemy import make_url

    url = make_url(settings.WAREHOUSE_URL.get())
    if os.geteuid() or url.get_backend_name() != "sqlite" or not url.database:
        return
    file = Path(url.database)
    owners = {path.stat().st_uid: path for path in (file, file.parent) if path.exists()}
    owners.pop(os.geteuid(), None)
    if owners and not settings.ALLOW_ROOT.get():
        number, path = owners.popitem()
        try:
            owner = pwd.getpwuid(number).pw_name
        except KeyError:
            owner = f"#{number}"
        raise SettingError(
            f"{path} belongs to {owner}, and this is root, whose files would lock {owner} out: "
            f"run it as {owner} (sudo -u '{owner}' ...), or set ALLOW_ROOT=1"
        )


def _add_env_file() -> list[str]:
    """Add what the environment does not have; returns what is wrong with the file."""
    named = os.environ.get(ENV_FILE.name, "").strip()
    path = Path(named) if named else _DEFAULT_FILE
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        if not named and isinstance(error, FileNotFoundError):
            return []
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        return [f"{ENV_FILE.name}={str(path)!r} cannot be read: {reason}"]
    wrong = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        if not found:
            # The line may hold a secret.
            wrong.append(f"{path}:{number}: must be KEY=VALUE, as in PORT=8000")
            continue
        name, literal, escaped, plain = found.groups()
        # A value and a file of the value are one setting.
        if not {name, f"{name}_FILE", name.removesuffix("_FILE")} & os.environ.keys():
            value = re.sub(r"\\(.)", r"\1", escaped) if escaped is not None else literal or plain
            os.environ[name] = value or ""
    return wrong
