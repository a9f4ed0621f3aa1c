"""`make dist`: the bill of materials that the wheel has (PEP 770), as CycloneDX: what `requirements.lock` names.

`python -m tests.system.bill` writes it. `make audit` writes a longer one, of the cluster's packages too.
"""

import json
import re
from pathlib import Path
from typing import Any, Final

from warehouse import VERSION

_ROOT: Final = Path(__file__).parents[2]
FILE: Final = _ROOT / "requirements.cdx.json"


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
