"""`make audit`: what is shipped, as CycloneDX's bill of materials, and the known vulnerabilities in it.

The programs are in an environment of their own (`requirements-audit.lock`): `python -m tests.system.audit
FOLDER_OF_PROGRAMS FOLDER_OF_RESULTS`. Exit status: 0 none is known, 1 some are, 75 nobody could be asked.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

# All that a host may run: `requirements-cluster.lock` has `requirements.lock`, too.
_LOCK: Final = Path(__file__).parents[2] / "requirements-cluster.lock"
_UNKNOWN: Final = 75


def main(programs: Path, results: Path) -> int:
    results.mkdir(parents=True, exist_ok=True)
    bill, found = results / "sbom.cdx.json", results / "vulnerabilities.json"
    words = ("requirements", "--of", "JSON", "--output-reproducible", "-o", bill, _LOCK)
    subprocess.run([programs / "cyclonedx-py", *words], check=True, stderr=subprocess.DEVNULL)
    print(f"audit: {len(json.loads(bill.read_text())['components'])} packages are shipped: {bill}")
    found.unlink(missing_ok=True)
    options = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "-f", "json")
    subprocess.run(
        [programs / "pip-audit", *options, "-r", _LOCK, "-o", found],
        stderr=subprocess.DEVNULL,
        check=False,
    )
    status, lines = outcome(json.loads(found.read_text()) if found.exists() else {})
    print("\n".join(f"audit: {line}" for line in lines))
    return status


def outcome(report: dict[str, Any]) -> tuple[int, list[str]]:
    """The exit status and the lines for what pip-audit reports; {} where it reported nothing."""
    packages = report.get("dependencies", [])
    # An index that has packages and no database answers that it does not know them, which counts as no
    # vulnerability.
    asked = [package for package in packages if "skip_reason" not in package]
    if not asked:
        return _UNKNOWN, [
            "the database of vulnerabilities cannot be asked from here: none was looked up"
        ]
    lines = [
        f"{package['name']} {package['version']}: {one['id']}, "
        f"mended in {', '.join(one['fix_versions']) or 'no version'}"
        for package in asked
        for one in package["vulns"]
    ]
    unknown = [package["name"] for package in packages if package not in asked]
    if unknown:
        lines.append(f"not looked up: {', '.join(unknown)}")
    status = 1 if any(package["vulns"] for package in asked) else _UNKNOWN if unknown else 0
    return status, lines or [f"no vulnerability is known in {len(asked)} packages"]


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
