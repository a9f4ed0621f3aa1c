"""Each process of the kit gets the secrets that it needs, and meets those that it talks to."""

import base64
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import make_url

from warehouse.environment import uses
from warehouse.setting_values import COLLECTOR, JOBS
from warehouse.settings import SETTINGS

ROOT = Path(__file__).parents[2]
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "compose.yaml").read_text())[
    "services"
]


# They write secrets.
MAKERS = ("secrets", "collector-role")


def read_by(service: dict[str, Any]) -> set[str]:
    """The files of secrets that a container reads, below /run/secrets."""
    files = [str(text) for text in service.get("environment", {}).values()]
    return {
        file.removeprefix("/run/secrets/") for file in files if file.startswith("/run/secrets/")
    }


def secret_volumes(service: dict[str, Any], below: str = "/run/secrets/") -> set[str]:
    """Where a container has volumes of secrets."""
    places = {volume.partition(":")[2] for volume in service.get("volumes", ())}
    return {place for place in places if place.startswith(below)}


def units(text: str) -> dict[str, list[str]]:
    """The values of a setting in the units of systemd, by the unit's name."""
    return {
        unit.stem.removeprefix("formrevenue-"): re.findall(f"^{text}=(.*)$", unit.read_text(), re.M)
        for unit in (ROOT / "jobs/systemd").iterdir()
    }


def test_each_container_has_its_own_secrets_and_no_others() -> None:
    own = {"warehouse/warehouse_url", "own/hash_secret", "own/credentials_key"}
    assert {name: read_by(service) for name, service in SERVICES.items() if name not in MAKERS} == {
        "database": {"database/database_password"},
        "api": own,
        "first-link": own,
        "scheduler": own,
        "collector": {"collector/collector_url"},
        "caddy": set(),
        "dask-scheduler": set(),
        "dask-worker": {"warehouse/warehouse_url"},
    }
    for name, service in SERVICES.items():
        read = {file.partition("/")[0] for file in read_by(service)}
        assert secret_volumes(service) == {f"/run/secrets/{volume}:ro" for volume in read}, name


def test_secrets_are_made_once_and_given_ones_are_taken(tmp_path: Path) -> None:
    given, made = tmp_path / "given", tmp_path / "made"
    given.mkdir()
    (given / "hash_secret").write_text("of before")
    for place in secret_volumes(SERVICES["secrets"], "/made/"):
        (tmp_path / place.lstrip("/")).mkdir(parents=True)

    def make() -> dict[str, str]:
        script = [SERVICES["secrets"]["entrypoint"][1], str(given), str(made)]
        subprocess.run(["sh", *script], cwd=ROOT, check=True, capture_output=True)
        files = [file for file in made.rglob("*") if file.is_file()]
        assert {file.stat().st_mode & 0o777 for file in files} == {0o644}
        return {str(file.relative_to(made)): file.read_text() for file in files}

    first = make()
    wanted = {file for service in SERVICES.values() for file in read_by(service)}
    assert first.keys() == wanted - {"collector/collector_url"}
    assert first["own/hash_secret"] == "of before"
    assert len(base64.b64decode(first["own/credentials_key"])) == 32
    password = first["database/database_password"]
    assert make_url(first["warehouse/warehouse_url"].strip()).password == password
    assert len(password) == 64
    (given / "hash_secret").write_text("of later")
    (given / "collector_url").write_text("postgresql://collector@database/formrevenue")
    assert make() == first | {"collector/collector_url": (given / "collector_url").read_text()}


def test_the_collector_s_role_is_made_once(postgres_url: str, tmp_path: Path) -> None:
    script = ["sh", SERVICES["collector-role"]["entrypoint"][1], str(tmp_path)]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "WAREHOUSE_URL": postgres_url, "PATH": path}
    urls = []
    for _ in range(2):
        subprocess.run(script, cwd=ROOT, env=environment, check=True, capture_output=True)
        urls.append((tmp_path / "collector_url").read_text())
    assert urls[0] == urls[1]
    url = make_url(urls[0].strip())
    assert url.database == make_url(postgres_url).database
    assert url.password
    assert [file.name for file in tmp_path.iterdir()] == ["collector_url"]


def test_every_setting_of_the_environment_file_reaches_its_container() -> None:
    """The API and the scheduler get the file whole; nothing that a container sets by itself hides a setting
    that somebody may want to change."""
    fixed = {"METRICS_HOST", "METRICS_PORT", "COLLECT_HOST", "HOST"}
    # The folder is a volume's.
    fixed |= {"IMPORT_DIR", "COLLECT_PORT", "ENV_FILE"}
    for name in ("api", "scheduler"):
        service = SERVICES[name]
        assert service["env_file"] == [".env"]
        own = {key for key in service["environment"] if not key.startswith("DASK_")}
        secret = {"WAREHOUSE_URL", "HASH_SECRET", "CREDENTIALS_KEY"}
        # The file goes before what `HOST` and `COLLECT_HOST` give.
        given = {key for key in own if str(service["environment"][key]).startswith(f"${{{key}:-")}
        assert {key.removesuffix("_FILE") for key in own - given} <= secret | fixed
    collector = SERVICES["collector"]["environment"]
    for setting in SETTINGS:
        if uses(COLLECTOR, setting) and not uses(JOBS, setting) and setting.name not in fixed:
            assert collector[setting.name].startswith(f"${{{setting.name}:-"), setting.name
    assert "env_file" not in SERVICES["collector"]


def test_the_collector_meets_the_database_alone() -> None:
    networks = {
        name: set(service.get("networks", ["default"]))
        for name, service in SERVICES.items()
        if service.get("network_mode") != "none"
    }
    for name, others in networks.items():
        if name not in ("collector", "database", "caddy"):
            assert not networks["collector"] & others, name
        assert others & networks["database"] or name == "caddy", name
    assert not networks["caddy"] & networks["database"]
    assert networks["dask-worker"] == networks["dask-scheduler"] < networks["scheduler"]


def test_the_others_believe_caddy_alone() -> None:
    networks = SERVICES["caddy"]["networks"]
    for name, network in (("api", "pages"), ("collector", "forms")):
        address = networks[network]["ipv4_address"]
        assert (
            SERVICES[name]["environment"]["TRUSTED_PROXIES"] == f"${{TRUSTED_PROXIES:-{address}}}"
        )
        members = {
            one for one, service in SERVICES.items() if network in service.get("networks", ())
        }
        assert members == {name, "caddy"}


def test_each_unit_reads_its_own_settings_and_no_others() -> None:
    own = {
        "api": "/etc/formrevenue.env",
        "scheduler": "/etc/formrevenue.env",
        "collector": "/etc/formrevenue-collector.env",
        "dask-scheduler": "/etc/formrevenue-cluster.env",
        "dask-worker@": "/etc/formrevenue-cluster.env",
    }
    assert units("EnvironmentFile") == {name: [file] for name, file in own.items()}
    # They run as one user, who may be able to read the file.
    hidden = units("InaccessiblePaths")
    for name in ("collector", "dask-scheduler", "dask-worker@"):
        assert "-/etc/formrevenue.env" in hidden[name][0].split(), name
