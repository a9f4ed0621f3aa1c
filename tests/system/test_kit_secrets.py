"""Each process of the kit gets the secrets that it needs, and meets those that it talks to."""

import re
from pathlib import Path
from typing import Any

import yaml

from warehouse.environment import uses
from warehouse.setting_values import COLLECTOR, JOBS
from warehouse.settings import SETTINGS

ROOT = Path(__file__).parents[2]
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "compose.yaml").read_text())[
    "services"
]


def units(text: str) -> dict[str, list[str]]:
    """What the units of systemd say of something: its values, by the unit's name."""
    return {
        unit.stem.removeprefix("formrevenue-"): re.findall(f"^{text}=(.*)$", unit.read_text(), re.M)
        for unit in (ROOT / "jobs/systemd").iterdir()
    }


def test_each_container_has_its_own_secrets_and_no_others() -> None:
    assert {name: set(service.get("secrets", ())) for name, service in SERVICES.items()} == {
        "database": {"database_password"},
        "api": {"warehouse_url", "hash_secret"},
        "scheduler": {"warehouse_url", "hash_secret"},
        "collector": {"collector_url"},
        "dask-scheduler": set(),
        "dask-worker": {"warehouse_url"},
    }
    for name, service in SERVICES.items():
        files = [text for text in service["environment"].values() if "/run/secrets/" in str(text)]
        assert {Path(file).name for file in files} == set(service.get("secrets", ())), name


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
        assert {key.removesuffix("_FILE") for key in own} <= {
            "WAREHOUSE_URL",
            "HASH_SECRET",
            *fixed,
        }
    collector = SERVICES["collector"]["environment"]
    for setting in SETTINGS:
        if uses(COLLECTOR, setting) and not uses(JOBS, setting) and setting.name not in fixed:
            assert collector[setting.name] == f"${{{setting.name}:-}}", setting.name
    assert "env_file" not in SERVICES["collector"]


def test_the_collector_meets_the_database_alone() -> None:
    networks = {
        name: set(service.get("networks", ["default"])) for name, service in SERVICES.items()
    }
    for name, others in networks.items():
        if name not in ("collector", "database"):
            assert not networks["collector"] & others, name
        assert others & networks["database"], name
    assert networks["dask-worker"] == networks["dask-scheduler"] < networks["scheduler"]


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
