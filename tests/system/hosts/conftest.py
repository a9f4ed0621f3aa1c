"""A network with PostgreSQL on one host; for each test, the hosts of a Dask cluster."""

import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.conftest import WITHOUT_DISTRIBUTED, WITHOUT_HOSTS
from tests.support.depth import FULL_HOSTS_EVENTS, HOSTS_EVENTS
from tests.support.job_commands import Commands
from tests.support.slow_batch import SlowBatch, slow_batch
from tests.system.hosts.network import Host, Network, obstacle
from tests.system.hosts.night import Night
from tests.system.hosts.services import Authority, DaskCluster, Job, Postgres

WORKERS = 3


class Farm:
    """Hosts at one warehouse: a scheduler, a driver and workers. `url` is that of the tests."""

    def __init__(self, network: Network, database: Postgres, url: str, folder: Path) -> None:
        self.network, self.database, self.url, self._folder = network, database, url, folder
        self.hosts: list[Host] = []
        self._authority = Authority(folder / "authority")
        self.settings = {"WAREHOUSE_URL": database.url_for_hosts(url), **self._authority.settings}
        self.driver = self.new_host("driver")
        self.commands = Commands(url, folder)

    def new_host(self, name: str) -> Host:
        self.hosts.append(self.network.new_host(name))
        return self.hosts[-1]

    def start_cluster(self) -> None:
        self.cluster = DaskCluster(self.new_host("scheduler"), self._folder, self.settings)
        for number in range(WORKERS):
            self.cluster.start_worker(self.new_host(f"worker-{number}"))
        self.cluster.wait_for_workers(WORKERS)

    def host(self, name: str) -> Host:
        return next(host for host in self.hosts if host.name == name)

    def roll_up(self, host: Host | None = None) -> Job:
        """Begin a rollup on a host by itself, or by the cluster."""
        if host is not None:
            return Job(host, self._folder, self.settings, "rollup")
        words = ("rollup", "--executor", f"dask+{self.cluster.address}")
        return Job(self.driver, self._folder, self.settings, *words)

    def slow_batch(self, batch: int) -> AbstractContextManager[SlowBatch]:
        return slow_batch(self.url, batch)

    def hosts_at_work(self) -> set[str]:
        """The names of the hosts whose workers have done something."""
        jobs = self.commands.rows("SELECT job FROM job_run WHERE job LIKE 'task@%' AND batches > 0")
        return {job.removeprefix("task@") for job in jobs}


@pytest.fixture(scope="session")
def network() -> Iterator[Network]:
    if reason := obstacle():
        pytest.skip(f"{WITHOUT_HOSTS}{reason}")
    pytest.importorskip("distributed", reason=f"{WITHOUT_DISTRIBUTED}not installed")
    network = Network()
    yield network
    network.end()


@pytest.fixture(scope="session")
def database(network: Network) -> Iterator[Postgres]:
    with tempfile.TemporaryDirectory(prefix="formrevenue-hosts-") as folder:
        host = network.new_host("database")
        yield Postgres(host, Path(folder))
        network.remove(host)


@pytest.fixture(scope="session")
def night(database: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Night:
    return Night(database, tmp_path_factory.mktemp("hosts") / "night", HOSTS_EVENTS)


@pytest.fixture(scope="session")
def full_night(database: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Night:
    return Night(database, tmp_path_factory.mktemp("hosts") / "night", FULL_HOSTS_EVENTS)


@contextmanager
def _farm(network: Network, database: Postgres, night: Night, folder: Path) -> Iterator[Farm]:
    with night.imported() as url:
        farm = Farm(network, database, url, folder)
        yield farm
        network.remove(*farm.hosts)


@pytest.fixture
def farm(network: Network, database: Postgres, night: Night, tmp_path: Path) -> Iterator[Farm]:
    with _farm(network, database, night, tmp_path) as farm:
        yield farm


@pytest.fixture
def full_farm(
    network: Network, database: Postgres, full_night: Night, tmp_path: Path
) -> Iterator[Farm]:
    with _farm(network, database, full_night, tmp_path) as farm:
        yield farm
