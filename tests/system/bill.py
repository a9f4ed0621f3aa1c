"""The bill of materials in the wheel (PEP 770): the packages of `requirements.lock`, as CycloneDX.

`make dist` writes it by `python -m tests.system.bill`; `make audit` writes that of the cluster too.
"""

import json
import re
from pathlib import Path
from typing import Any, Final

from warehouse import VERSION

_ROOT: Final = Path(__file__).parents[2]
FILE: Final = _ROOT / ".ci" / "requirements.cdx.json"


def bill() -> str:
    """The same text for the same lock."""
    locked = re.findall(
        r"^([\w.-]+)==(\S+)", (_ROOT / "requirements.lock").read_text(), re.MULTILINE
    )
    described = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _component("application", "formrevenue", VERSION)},
        "components": [_component("library", name, version) for name, version in locked],
    }
    return json.dumps(described, indent=1) + "\n"


def _component(kind: str, name: str, version: str) -> dict[str, Any]:
    package = f"pkg:pypi/{name}@{version}"
    return {
        "type": kind,
        "bom-ref": package,
        "name": name,
        "version": version,
        "purl": package,
    }


if __name__ == "__main__":
    FILE.write_text(bill())
