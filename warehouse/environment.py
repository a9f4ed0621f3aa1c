"""The settings of a process, before it begins: those of ENV_FILE are added, and all are checked that it uses.

Start with `prepare`.
"""

import base64
import ctypes
import os
import pwd
import re
import sys
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Final

from warehouse import INSTALLED, settings
from warehouse.setting_values import ADMIN, API, JOBS, SCHEDULER, Setting, SettingError
from warehouse.settings import CREDENTIALS_KEY, ENV_FILE, SETTINGS, replica_url

# A scheduler runs all jobs, and the API's members do what commands of `web` do.
_INCLUDED: Final = {SCHEDULER: JOBS, API: ADMIN}

_PR_SET_DUMPABLE: Final = 4
# Names that are taken for misspelt: their least length, and how alike they are (`difflib`).
_LONG: Final = 8
_ALIKE: Final = 0.85
_KEY_NAMES: Final = {CREDENTIALS_KEY.name, f"{CREDENTIALS_KEY.name}_FILE"}
# The file lies beside the program; that of an installed package, which lies among others, in the folder where
# a command is called.
_DEFAULT_FILE: Final = (Path() if INSTALLED else Path(__file__).parents[1]) / ENV_FILE.default
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
    return process in setting.used_by or _INCLUDED.get(process) in setting.used_by


def prepare(process: str) -> None:
    """Add the settings of ENV_FILE to the environment, and check all that such a process uses. Raises
    WrongSettings."""
    wrong = _add_env_file()
    _add_credentials_key()
    for setting in SETTINGS:
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
    for variable in sorted(os.environ):
        if name := _meant(variable):
            warning = f"{variable} is set, and no setting is called so: is {name} meant?"
            print(f"Warning: {warning}", file=sys.stderr)  # noqa: T201
    hide_memory()


def make_credentials_key() -> None:
    """Make the CREDENTIALS_KEY of this installation, once, where none is set: a file in DATA_DIR for its user
    alone, which every command then finds. It is in no backup, so that a stolen one opens nothing."""

    def private(path: str, flags: int) -> int:
        return os.open(path, flags, 0o600)

    path = _credentials_key()
    if not _KEY_NAMES & os.environ.keys():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileExistsError), open(path, "xb", opener=private) as file:
            file.write(base64.b64encode(os.urandom(32)))
    _add_credentials_key()


def _credentials_key() -> Path:
    return Path(settings.DATA_DIR.get()) / "credentials.key"


def _add_credentials_key() -> None:
    # A wrong DATA_DIR is told with the other settings; in one of another user there is no key for this one.
    with suppress(SettingError, PermissionError):
        if not _KEY_NAMES & os.environ.keys() and (path := _credentials_key()).exists():
            os.environ[f"{CREDENTIALS_KEY.name}_FILE"] = str(path)


@cache
def _meant(variable: str) -> str:
    """The setting, or its file, that a variable probably misspells, which nothing reads; else ""."""
    names = {f"{setting.name}{ending}" for setting in SETTINGS for ending in ("", "_FILE")}
    # Short names, such as HOST, are like many that others use.
    long = sorted(name for name in names if len(name) >= _LONG)
    return "" if variable in names else next(iter(get_close_matches(variable, long, 1, _ALIKE)), "")


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
