"""`python -m tests.web.openapi.generated_clients`: build clients from the description, and call a service.

It needs pip, npm and their registries, and takes some minutes: `make test-deep` runs it. It serves the
demo's shop, generates a Python client (openapi-python-client) and a TypeScript client (openapi-typescript
with openapi-fetch), type-checks and runs `clients/client.py` and `clients/client.ts` with them, and lints
the document (Redocly). It exits with 1 if one of these fails, or if the Python client has more than
MAX_MODELS models.
"""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import orjson

from jobs.demo.cast import QUIZ
from tests.support.serving import ask, served
from tests.web.openapi.described import DAYS, NOW, described

MAX_MODELS: Final = 120
_PROGRAMS: Final = Path(__file__).parent / "clients"
_NPM_PACKAGES: Final = ("typescript@5", "openapi-typescript@7", "openapi-fetch", "@redocly/cli@2")


def main() -> int:
    with (
        TemporaryDirectory() as name,
        described(f"sqlite:///{name}/demo.db") as service,
        served(service.url) as (_, port),
    ):
        folder = Path(name)
        document = folder / "openapi.json"
        document.write_bytes(orjson.dumps(ask(port, "GET", "/v1/openapi.json")[1]))
        shutil.copytree(_PROGRAMS, folder, dirs_exist_ok=True)
        settings = {
            "BASE_URL": f"http://127.0.0.1:{port}",
            "API_KEY": service.key,
            "FORM_ID": QUIZ.id,
            "RANGE": f"{NOW - timedelta(DAYS):%Y-%m-%d}..{NOW:%Y-%m-%d}",
        }
        try:
            models = python_client(folder, document, settings)
            typescript_client(folder, document, settings)
        except subprocess.CalledProcessError as error:
            print(f"This command failed: {' '.join(error.cmd)}", file=sys.stderr)
            return 1
    print(f"openapi-python-client: {models} models (at most {MAX_MODELS})")
    return 0 if models <= MAX_MODELS else 1


def python_client(folder: Path, document: Path, settings: Mapping[str, str]) -> int:
    """Generate the Python client, and call the service with it; returns the number of its models."""
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    _run(folder, programs / "pip", "install", "--quiet", "openapi-python-client", "mypy")
    _run(
        folder,
        *(programs / "openapi-python-client", "generate", "--meta", "none"),
        *("--path", document, "--output-path", "generated"),
    )
    _run(folder, programs / "mypy", "--strict", "--follow-imports", "silent", "client.py")
    _run(folder, programs / "python", "client.py", settings=settings)
    return len(list(folder.glob("generated/models/*.py"))) - 1


def typescript_client(folder: Path, document: Path, settings: Mapping[str, str]) -> None:
    """Generate the types, compile a plain `createClient<paths>()`, call the service, lint the document."""
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    _run(folder, "npm", "install", "--no-audit", "--no-fund", *_NPM_PACKAGES)
    _run(folder, "npx", "openapi-typescript", document, "-o", "schema.d.ts")
    _run(
        folder,
        *("npx", "tsc", "--strict", "--noEmitOnError", "--target", "es2022", "--lib", "es2022,dom"),
        *("--module", "nodenext", "--moduleResolution", "nodenext", "client.ts"),
    )
    _run(folder, "node", "client.js", settings=settings)
    _run(folder, "npx", "redocly", "lint", document)


def _run(folder: Path, *command: str | Path, settings: Mapping[str, str] = {}) -> None:
    environment = {**os.environ, **settings}
    subprocess.run([*map(str, command)], cwd=folder, env=environment, check=True, timeout=600)


if __name__ == "__main__":
    sys.exit(main())
