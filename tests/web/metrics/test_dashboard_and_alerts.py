"""The dashboard and the alerts ask for metrics that are exposed, in queries that Prometheus understands."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml

from tests.conftest import WITHOUT_PROMTOOL, NewUrl
from tests.support.product import Product
from tests.support.serving import ask, collected, free_port, served
from tests.support.shop_builder import ShopBuilder
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.web.collector.conftest import new_write_key
from warehouse.connections.engine import open_engine

HERE = Path(__file__).parent
ALERTS = Path("web/metrics/alerts.yml").absolute()
RULES = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]
DASHBOARD = json.loads(Path("web/metrics/grafana.json").read_text())
PANELS = {
    f"{panel['title']} {target['refId']}": target["expr"]
    for panel in DASHBOARD["panels"]
    for target in panel["targets"]
}
QUERIES = PANELS | {rule["alert"]: rule["expr"] for rule in RULES}
# Prometheus adds the first to what it scrapes, and the second is a histogram's own.
OTHER_LABELS = {"instance", "le"}


@pytest.fixture(scope="module")
def exposed(new_shared_url: NewUrl, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of /metrics, once there are a shop, a run, a reject and a request, and that of a
    collector that has taken an event."""
    url, metrics = new_shared_url(), free_port()
    engine = open_engine(url)
    ShopBuilder(engine)
    engine.dispose()
    Product(url).load("orders", [{}], rejected=1)
    with served(url, {"METRICS_PORT": str(metrics)}) as (_, port):
        ask(port, "GET", "/healthz")
        with urlopen(f"http://127.0.0.1:{metrics}/metrics", timeout=PATIENCE_SECONDS) as answer:
            said: str = answer.read().decode()
    return said + _exposed_by_collector(url, tmp_path_factory.mktemp("landing"))


def _exposed_by_collector(url: str, landing: Path) -> str:
    engine, metrics = open_engine(url), free_port()
    key = new_write_key(engine, "example.myshopify.com")
    engine.dispose()
    with collected(url, landing, {"METRICS_PORT": str(metrics - 1)}) as (_, port):
        body = json.dumps({"event": "Form Viewed", "writeKey": key})
        kind = {"Content-Type": "text/plain"}
        wait_until(lambda: ask(port, "POST", "/v1/t", body=body, **kind)[0] == 200)
        with urlopen(f"http://127.0.0.1:{metrics}/metrics", timeout=PATIENCE_SECONDS) as answer:
            said: str = answer.read().decode()
    return said


def test_every_metric_and_label_is_exposed(exposed: str) -> None:
    names = set(re.findall(r"^(?:# TYPE )?(formrevenue_\w+)[ {]", exposed, re.MULTILINE))
    labels = set(re.findall(r'[{,](\w+)="', exposed)) | OTHER_LABELS
    variables = [item["query"] for item in DASHBOARD["templating"]["list"]]
    assert {name for text in variables for name in re.findall(r"formrevenue_\w+", text)} <= names
    for title, query in QUERIES.items():
        assert set(re.findall(r"formrevenue_\w+", query)) <= names, title
        grouped = ",".join(re.findall(r"\bby \(([^)]*)\)", query))
        used = set(re.findall(r"(\w+)(?:=~|!=|!~|=)\"", query)) | set(re.findall(r"\w+", grouped))
        assert used <= labels, title


def test_nothing_that_is_exposed_is_left_out_of_the_dashboard(exposed: str) -> None:
    shown = {
        re.sub("_bucket$", "", name)
        for query in PANELS.values()
        for name in re.findall(r"formrevenue_\w+", query)
    }
    assert shown == set(re.findall(r"^# TYPE (formrevenue_\w+) ", exposed, re.MULTILINE))


def test_panels_have_a_place_of_their_own() -> None:
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in DASHBOARD["panels"])
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@pytest.fixture
def promtool() -> str:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip(f"{WITHOUT_PROMTOOL}there is no `promtool` on the PATH")
    return program


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_understands_every_query(promtool: str, tmp_path: Path) -> None:
    """A query that Prometheus cannot parse is refused as a rule, too."""
    run(promtool, "check", "rules", str(ALERTS))
    rules = [
        {
            "record": f"panel:{number}",
            "expr": query.replace("$__rate_interval", "5m").replace("$shop", ".*"),
        }
        for number, query in enumerate(PANELS.values())
    ]
    file = tmp_path / "panels.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    run(promtool, "check", "rules", str(file))


def test_alerts_fire_when_they_should_and_not_otherwise(promtool: str) -> None:
    stories = (HERE / "alerts_tests.yml").read_text()
    assert {rule["alert"] for rule in RULES} == set(re.findall(r"Formrevenue\w+", stories))
    run(promtool, "test", "rules", str(HERE / "alerts_tests.yml"))
