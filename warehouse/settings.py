"""Settings: one declaration each, and all there is to say of one. The environment is read when a setting is
used; `environment.py` checks it before a process begins."""

from typing import Final
from urllib.parse import urlsplit

from warehouse import setting_values as values
from warehouse.setting_values import ADMIN, API, COLLECTOR, JOBS, SCHEDULER, Setting, SettingError

ENV_FILE: Final = Setting(
    "ENV_FILE",
    ".env",
    str,
    "a file of settings, which the environment overrides (`environment.py`)",
)
DATA_DIR: Final = Setting(
    "DATA_DIR",
    "var",
    values.folder,
    "the folder of the warehouse file, the landing folder, backups and keys, unless a setting names another",
)
ALLOW_ROOT: Final = Setting(
    "ALLOW_ROOT",
    "0",
    values.Number(0, 1),
    "1: root may work on a warehouse in a file of another user, whom root's files can lock out",
)
WAREHOUSE_URL: Final = Setting(
    "WAREHOUSE_URL",
    "sqlite:///var/warehouse.db",
    values.warehouse_url,
    "the database: `sqlite:///FILE` or `postgresql://USER:PASSWORD@HOST:PORT/NAME`",
    secret=True,
)
READ_WAREHOUSE_URL: Final = Setting(
    "READ_WAREHOUSE_URL",
    "",
    values.replica_url,
    "a read replica of the warehouse (PostgreSQL), which the API reads figures from; "
    "`WAREHOUSE_URL` without it",
    secret=True,
    example="postgresql://user:password@replica.example/formrevenue",
    used_by=(API,),
)
ATTRIBUTION_WINDOW_DAYS: Final = Setting(
    "ATTRIBUTION_WINDOW_DAYS",
    "30",
    values.DAYS,
    "how many days (of 24 h) after a submission an order can be credited to it; "
    "after a change, the next rollup recomputes everything",
    used_by=(API, JOBS),
)
REJECTS_DAYS: Final = Setting(
    "REJECTS_DAYS",
    "30",
    values.DAYS,
    "days after which rejected rows are deleted",
    used_by=(API, JOBS),
)
RAW_DAYS: Final = Setting(
    "RAW_DAYS",
    "off",
    values.DAYS_OR_OFF,
    "days after which raw events are deleted; every figure stays",
    example="400",
    used_by=(JOBS,),
)
IMPORTS_DAYS: Final = Setting(
    "IMPORTS_DAYS",
    "30",
    values.DAYS,
    "days for which imports are listed and can be undone",
    used_by=(API, JOBS),
)
NIGHTLY_CRON: Final = Setting(
    "NIGHTLY_CRON",
    "15 2 * * *",
    values.cron,
    "when the nightly rollup runs: a cron expression, in UTC",
    used_by=(SCHEDULER,),
)
REFRESH_MINUTES: Final = Setting(
    "REFRESH_MINUTES",
    "5",
    values.Number(1, 1_440, "minutes"),
    "minutes between two refreshes of the summaries",
    used_by=(API, SCHEDULER),
)
VERIFY_CRON: Final = Setting(
    "VERIFY_CRON",
    "15 4 * * *",
    values.cron,
    "when a sample of days is verified: a cron expression, in UTC",
    used_by=(SCHEDULER,),
)
PURGE_CRON: Final = Setting(
    "PURGE_CRON",
    "45 3 * * *",
    values.cron,
    "when old rejects, records of imports and runs, collected and pulled files, `Idempotency-Key`s and what "
    "is left of deleted shops are deleted: a cron expression, in UTC",
    used_by=(SCHEDULER,),
)
BACKUP_CRON: Final = Setting(
    "BACKUP_CRON",
    "",
    values.cron_or_none,
    "when a backup is taken: a cron expression, in UTC; without it, none is",
    example="15 1 * * *",
    used_by=(SCHEDULER,),
)
BACKUP_DIR: Final = Setting(
    "BACKUP_DIR",
    "var/backups",
    values.folder,
    "the folder of the backups that are taken on a schedule",
    used_by=(JOBS,),
)
BACKUP_KEEP: Final = Setting(
    "BACKUP_KEEP",
    "14",
    values.Number(1, 10_000),
    "the most backups in BACKUP_DIR; the oldest is deleted once a new one was checked",
    used_by=(JOBS,),
)
BACKUP_DAYS: Final = Setting(
    "BACKUP_DAYS",
    "30",
    values.DAYS,
    "days after which a backup in BACKUP_DIR is deleted, once a new one was checked",
    used_by=(JOBS,),
)
RUNS_DAYS: Final = Setting(
    "RUNS_DAYS",
    "90",
    values.DAYS,
    "days after which the records of runs are deleted",
    used_by=(JOBS,),
)
AUDIT_DAYS: Final = Setting(
    "AUDIT_DAYS",
    "400",
    values.DAYS,
    "days after which events of the audit trail are deleted: they have addresses of people",
    used_by=(JOBS,),
)
BATCH_MAX_ATTEMPTS: Final = Setting(
    "BATCH_MAX_ATTEMPTS",
    "5",
    values.Number(1, 1_000),
    "failed attempts after which a batch is set aside",
    used_by=(JOBS,),
)
EXECUTOR: Final = Setting(
    "EXECUTOR",
    "inline",
    values.executor,
    "the processes that roll up: `inline`, `processes:N` or `dask+tls://HOST:PORT`",
    used_by=(JOBS,),
)
IMPORT_DIR: Final = Setting(
    "IMPORT_DIR",
    "var/landing",
    values.folder,
    "the landing folder, with a subfolder for each kind",
    used_by=(API, COLLECTOR, JOBS),
)
LANDING_POLL_SECONDS: Final = Setting(
    "LANDING_POLL_SECONDS",
    "10",
    values.Number(1, 3_600, "seconds"),
    "seconds between two looks into the landing folder",
    used_by=(SCHEDULER,),
)
LANDED_DAYS: Final = Setting(
    "LANDED_DAYS",
    "30",
    values.DAYS,
    "days after which imported files of the collector, of pulls and of pages are deleted from "
    "`done/`; others stay",
    used_by=(JOBS,),
)
IMPORT_MEMORY_MB: Final = Setting(
    "IMPORT_MEMORY_MB",
    "1024",
    values.Number(256, 1_000_000, "megabytes"),
    "megabytes of memory that the import of one file may take (on Linux); a file that takes more fails",
    used_by=(JOBS,),
)
IMPORT_MINUTES: Final = Setting(
    "IMPORT_MINUTES",
    "60",
    values.Number(1, 1_440, "minutes"),
    "minutes that the import of one file may take; a file that takes longer fails",
    used_by=(JOBS,),
)
PULL_MAX_MB: Final = Setting(
    "PULL_MAX_MB",
    "2000",
    values.Number(1, 1_000_000, "megabytes"),
    "megabytes that one pull may bring; one that brings more fails",
    used_by=(JOBS,),
)
UPLOAD_MB: Final = Setting(
    "UPLOAD_MB",
    "256",
    values.Number(1, 10_000, "megabytes"),
    "megabytes that a file may have which a member drops on the Data page; it unpacks to four times as many",
    used_by=(API, JOBS),
)
ROWS_PER_SHOP_DAY: Final = Setting(
    "ROWS_PER_SHOP_DAY",
    "20000000",
    values.Number(1, 10**12),
    "rows of files from the Data page that a shop may import in a day (UTC); a file beyond them waits for "
    "the next day",
    used_by=(API, JOBS),
)
HOST: Final = Setting(
    "HOST",
    "127.0.0.1",
    values.host,
    "the address that the API listens on",
    used_by=(JOBS, ADMIN),
)
PORT: Final = Setting(
    "PORT",
    "8000",
    values.PORT,
    "the port that the API listens on",
    used_by=(JOBS, ADMIN),
)
WORKERS: Final = Setting(
    "WORKERS",
    "2",
    values.Number(1, 256),
    "the number of processes that serve the API",
    used_by=(API,),
)
METRICS_HOST: Final = Setting(
    "METRICS_HOST",
    "127.0.0.1",
    values.host,
    "the address that metrics are served on",
    used_by=(API, COLLECTOR),
)
METRICS_PORT: Final = Setting(
    "METRICS_PORT",
    "",
    values.METRICS_PORT,
    "the port that metrics for Prometheus are served on, and the collector's on the next one; they are off "
    "without it",
    example="9100",
    used_by=(API, COLLECTOR),
)
COLLECT_HOST: Final = Setting(
    "COLLECT_HOST",
    "127.0.0.1",
    values.host,
    "the address that the collector listens on",
    used_by=(JOBS, API, COLLECTOR),
)
COLLECT_PORT: Final = Setting(
    "COLLECT_PORT",
    "8001",
    values.PORT,
    "the port that the collector listens on",
    used_by=(JOBS, API, COLLECTOR),
)
COLLECT_WORKERS: Final = Setting(
    "COLLECT_WORKERS",
    "2",
    values.Number(1, 256),
    "the number of processes that collect events",
    used_by=(COLLECTOR,),
)
COLLECT_CALLS_PER_ADDRESS: Final = Setting(
    "COLLECT_CALLS_PER_ADDRESS",
    "6000",
    values.Number(1, 1_000_000, "calls a minute", without="off"),
    "tracking calls a minute that the collector takes from one address on each host, and as many at once",
    used_by=(COLLECTOR,),
)
COLLECT_CALLS_PER_KEY: Final = Setting(
    "COLLECT_CALLS_PER_KEY",
    "60000",
    values.Number(1, 10_000_000, "calls a minute", without="off"),
    "tracking calls a minute that the collector keeps of one write key on each host, and as many at once",
    used_by=(COLLECTOR,),
)
COLLECT_MB_PER_SHOP: Final = Setting(
    "COLLECT_MB_PER_SHOP",
    "1000",
    values.Number(1, 1_000_000, "megabytes a day", without="off"),
    "megabytes a day that the collector writes for one shop on each host, and as many at once",
    used_by=(COLLECTOR,),
)
COLLECT_URL: Final = Setting(
    "COLLECT_URL",
    "",
    values.base_address,
    "the address at which pages of shops reach the collector, used in the snippet that members copy "
    "(`http://COLLECT_HOST:COLLECT_PORT` without it)",
    example="https://collect.example.com",
    used_by=(API,),
)
PUBLIC_URL: Final = Setting(
    "PUBLIC_URL",
    "",
    values.address_without_path,
    "the address at which people reach the service, without a path, used in links to it "
    "(`http://HOST:PORT` without it); with `https://`, cookies and browsers are for HTTPS alone",
    example="https://forms.example.com",
    used_by=(COLLECTOR, ADMIN),
)
TRUSTED_PROXIES: Final = Setting(
    "TRUSTED_PROXIES",
    "",
    values.networks,
    "addresses or networks, comma-separated, of the proxies whose `X-Forwarded-For` and "
    "`X-Forwarded-Proto` are believed; no network in which clients are",
    example="10.0.0.5",
    used_by=(API, COLLECTOR),
)
CORS_ORIGINS: Final = Setting(
    "CORS_ORIGINS",
    "",
    values.origins,
    "origins, comma-separated, whose pages may read the API from a browser (`*`: all)",
    example="https://app.example.com",
    used_by=(API,),
)
RATE_LIMIT: Final = Setting(
    "RATE_LIMIT",
    "6000/60",
    values.rate,
    "how many requests the keys of a shop may make together on each host, as requests/seconds; "
    "`off`: any number",
    used_by=(API,),
)
FORMS_PER_SHOP: Final = Setting(
    "FORMS_PER_SHOP",
    "10000",
    values.Number(1, 1_000_000),
    "the most forms of a shop that were created or imported; the API creates no further one (an import "
    "does). Besides, the most forms that become known from tracking calls of pages that the write key "
    "names, and as many from others",
    used_by=(API, JOBS),
)
FORM_BYTES_PER_SHOP: Final = Setting(
    "FORM_BYTES_PER_SHOP",
    "1000000000",
    values.Number(1, 10**15, "bytes"),
    "the most bytes of a shop's forms, schemas and drafts together; the API stores no more "
    "(an import does)",
    used_by=(API,),
)
SECRET_KEY: Final = Setting(
    "SECRET_KEY",
    "",
    values.secret_key,
    "the secret of at least 32 characters that signs members' cookies; without it, the service "
    "creates one and keeps it in the warehouse",
    secret=True,
    example="$(openssl rand -hex 32)",
    used_by=(API,),
)
HASH_SECRET: Final = Setting(
    "HASH_SECRET",
    "",
    values.secret_key,
    "the secret of at least 32 characters under which e-mail addresses are hashed; without it, the "
    "service creates one and keeps it in the warehouse; it never changes",
    secret=True,
    example="$(openssl rand -hex 32)",
)
CREDENTIALS_KEY: Final = Setting(
    "CREDENTIALS_KEY",
    "",
    values.credentials_key,
    "the key with which credentials of pulls are kept encrypted: 32 random bytes in base64; without it, "
    "`credentials.key` in DATA_DIR, which `start` makes; without both, none are kept",
    secret=True,
    example="$(openssl rand -base64 32)",
    used_by=(API, JOBS),
)
SHOPIFY_CLIENT_ID: Final = Setting(
    "SHOPIFY_CLIENT_ID",
    "",
    str,
    "the client id of the Shopify app by which pulls read orders, for shops without one of their own",
    secret=True,
    used_by=(JOBS,),
)
SHOPIFY_CLIENT_SECRET: Final = Setting(
    "SHOPIFY_CLIENT_SECRET",
    "",
    str,
    "the secret of that app",
    secret=True,
    used_by=(JOBS,),
)

SETTINGS: Final = tuple(value for value in list(globals().values()) if isinstance(value, Setting))
"""All settings, in the order in which they are declared."""


def replica_url() -> str:
    """The URL of the read replica, "" without one. Raises SettingError where the warehouse is SQLite's,
    which has none."""
    url = str(READ_WAREHOUSE_URL.get())
    if url and WAREHOUSE_URL.get().startswith("sqlite"):
        raise SettingError(
            "READ_WAREHOUSE_URL: a read replica needs PostgreSQL, and WAREHOUSE_URL names an SQLite file; "
            "unset it, or set WAREHOUSE_URL to the replica's primary"
        )
    return url


def is_public_https() -> bool:
    """Whether people reach the service over HTTPS, as PUBLIC_URL says: proxies may not tell."""
    return str(PUBLIC_URL.get()).startswith("https://")


def public_url() -> str:
    """The address at which people reach the service, without a slash at its end."""
    return str(PUBLIC_URL.get() or f"http://{_reached(HOST.get())}:{PORT.get()}")


def _reached(host: str) -> str:
    """The name by which this machine reaches what listens on an address: nothing is reached by "all"."""
    return "localhost" if host in ("0.0.0.0", "::", "[::]") else host


def collect_url() -> str:
    """The address at which pages of shops reach the collector, without a slash at its end."""
    return str(COLLECT_URL.get() or f"http://{_reached(COLLECT_HOST.get())}:{COLLECT_PORT.get()}")


def collects_for_visitors() -> bool:
    """Whether browsers load the line from `collect_url()` in a shop's pages, which have HTTPS: so must it."""
    return collect_url().startswith("https://")


def collects_here_alone() -> bool:
    """Whether nobody but this computer reaches `collect_url()`."""
    host = urlsplit(collect_url()).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.") or host.endswith(".localhost")
