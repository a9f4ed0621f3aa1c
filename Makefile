# Everyday commands. `make` alone lists them; scripts call what is behind them directly.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.SUFFIXES:

PYTHON := .venv/bin/python
# Processes that run the tests: twice the cores, since a test waits for a process, a browser or a database in half
# of its time.
TEST_WORKERS ?= 4
# Seconds for which a test waits for what has to happen; less in `make test`, so that a hang is seen early.
PATIENT := TEST_PATIENCE=480
# requirements.lock has what runs, requirements-cluster.lock that and Dask, requirements-dev.lock both and
# what checks. They are made by
#   LOCK="uv pip compile --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
#     --no-header --no-annotate --no-emit-index-url pyproject.toml"
#   $LOCK -o requirements.lock
#   $LOCK --extra cluster -c requirements.lock -o requirements-cluster.lock
#   $LOCK --extra dev --extra cluster -c requirements-cluster.lock -o requirements-dev.lock
# requirements-audit.lock has what `make audit` asks, in an environment of its own:
#   ${LOCK% *} --group pyproject.toml:audit -c requirements-dev.lock -o requirements-audit.lock
# requirements-bench.lock has ClickHouse, beside which `make bench` measures:
#   ${LOCK% *} --group pyproject.toml:bench -c requirements-dev.lock -o requirements-bench.lock
READY := .venv/.ready
READY_TO_CHECK := .venv/.ready-to-check
AUDIT := var/audit/venv
READY_TO_AUDIT := $(AUDIT)/.ready
CLICKHOUSE := var/bench/chdb
READY_TO_BENCH := $(CLICKHOUSE)/.ready

# Installs a lock, in which each file has its hash. The pip that does it is the one that Python brings, with
# the holes that have become known since; it goes again, and setuptools with it. Compiled here, on all cores and without the libraries'
# tests, since pip compiles on one. Not compiled at all, every command would be slower where Python may not
# write to .venv later.
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r
define install
@echo "setup: 1 of 2: fetching and unpacking the $$(grep -c == $(1)) packages of $(1)" >&2
@$(PYTHON) -m ensurepip >/dev/null
@$(PYTHON) $(PIP_INSTALL) $(1)
@$(PYTHON) -m pip uninstall -qqy setuptools pip
@echo "setup: 2 of 2: compiling them, on all cores" >&2
@$(PYTHON) -m compileall -q -j 0 -x '/tests/' .venv/lib jobs warehouse web
endef

# What makes the line for pages small.
TERSER := 5.51.4

# Values from the command line are quoted for the shell, so that names may contain spaces.
quoted = '$(subst ','\'',$(1))'
shop = $(if $(SHOP),--shop $(call quoted,$(SHOP)))

.PHONY: help
help: ## list the targets
	@echo "Usage: make <target>"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(READY) ## install what runs into .venv (every target installs what it needs by itself)

$(READY): requirements.lock pyproject.toml
	@python=; \
	for name in python3 python3.13 python3.12 python3.11 python3.14; do \
	  if command -v $$name >/dev/null && $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))'; \
	  then python=$$name; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "setup: no Python 3.11 or newer on the PATH; install one." >&2; exit 1; fi; \
	if ! $$python -c 'import venv, ensurepip' 2>/dev/null; then \
	  echo "setup: $$python lacks its venv module; on Debian or Ubuntu: apt-get install python3-venv" >&2; \
	  exit 1; fi; \
	echo "setup: building .venv with $$($$python --version)" >&2; \
	$$python -m venv --clear --without-pip .venv
	$(call install,requirements.lock)
	@touch $@
	@echo "setup: done; \`make demo\` shows a made-up shop, \`make start\` is your own" >&2

$(READY_TO_CHECK): requirements-dev.lock $(READY)
	@echo "setup: adding what tests and checks" >&2
	$(call install,requirements-dev.lock)
	@# Compiles the tests: else each process of each first run would.
	@PYTHONDONTWRITEBYTECODE= $(PYTHON) -m pytest --collect-only -qq >/dev/null
	@touch $@

.PHONY: demo
demo: $(READY) ## make up a shop with DAYS=120 days of data, print a key, serve the API on PORT=8000
	@exec $(PYTHON) -m jobs demo $(if $(DAYS),--days $(call quoted,$(DAYS)))

# Each worker would compile all tests anew.
test test-rest test-deep: export PYTHONDONTWRITEBYTECODE =

.PHONY: test
test: $(READY_TO_CHECK) ## run the tests that say most, in five minutes
	@rm -rf var/statements/core
	@RECORD_STATEMENTS=core $(PYTHON) -m pytest -n $(TEST_WORKERS) --dist worksteal

.PHONY: test-all
test-all: test test-rest ## run all tests, on both databases: before anything lands

# All tests that `make test` leaves out, those of random examples once more with all of these, and whether it
# left out what it must not.
.PHONY: test-rest
test-rest: $(READY_TO_CHECK)
	@rm -rf var/statements/rest
	@RECORD_STATEMENTS=rest $(PATIENT) $(PYTHON) -m pytest -n $(TEST_WORKERS) --dist worksteal --timeout 600 \
	  --hypothesis-profile usual -m "(thorough or hypothesis) and not deep"
	@$(PYTHON) -m tests.support.statements

.PHONY: test-deep
test-deep: $(READY_TO_CHECK) ## try many more random examples, faults, requests, a soak and a year (hours)
	@$(PATIENT) INVARIANT_EXAMPLES=50 $(PYTHON) -m pytest -n $(TEST_WORKERS) --dist worksteal --timeout 0 \
	  -m hypothesis --hypothesis-profile deep
	@$(PATIENT) $(PYTHON) -m pytest -n $(TEST_WORKERS) --timeout 0 -m deep
	@$(PATIENT) REQUEST_EXAMPLES=500 $(PYTHON) -m pytest --timeout 0 -m thorough tests/web/openapi/test_conformance.py
	@$(PATIENT) $(PYTHON) -m tests.system.faults --faults 100
	@$(PATIENT) $(PYTHON) -m tests.system.fuzz --requests 100000
	@$(PATIENT) $(PYTHON) -m tests.system.attack
	@$(PATIENT) $(PYTHON) -m tests.system.soak --minutes 5
	@$(PATIENT) $(PYTHON) -m tests.web.openapi.generated_clients

.PHONY: lint
lint: $(READY_TO_CHECK) ## check style and types
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy

$(READY_TO_AUDIT): requirements-audit.lock $(READY)
	@$(PYTHON) -m venv --clear $(AUDIT)
	@$(AUDIT)/bin/python $(PIP_INSTALL) requirements-audit.lock
	@touch $@

.PHONY: audit
audit: $(READY_TO_AUDIT) ## list what is shipped (var/audit/sbom.cdx.json), and the known vulnerabilities in it
	@$(PYTHON) -m tests.system.audit $(AUDIT)/bin var/audit

.PHONY: start
start: $(READY) ## run your own installation: API, scheduler and collector together, and print a first link
	@exec $(PYTHON) -m jobs start

.PHONY: run
run: $(READY) ## serve the API on HOST=127.0.0.1 and PORT=8000
	@exec $(PYTHON) -m web serve

.PHONY: collect
collect: $(READY) ## take events from pages and servers on COLLECT_HOST=127.0.0.1 and COLLECT_PORT=8001
	@exec $(PYTHON) -m web collect

.PHONY: scheduler
scheduler: $(READY) ## run the scheduled jobs
	@exec $(PYTHON) -m jobs scheduler

.PHONY: import
import: $(READY) ## import KIND=events FILE=... (one or more files) [FORMAT=... SHOP=...]
	@if [ -z $(call quoted,$(KIND)) ] || [ -z $(call quoted,$(FILE)) ]; then \
	  echo "Usage: make import KIND=events FILE=events.ndjson" >&2; \
	  echo "KIND: shops forms events orders ad-spend ad-accounts exchange-rates" >&2; exit 2; fi
	@if [ -e $(call quoted,$(FILE)) ]; then set -- $(call quoted,$(FILE)); else set -- $(FILE); fi; \
	$(PYTHON) -m jobs import $(call quoted,$(KIND)) $(if $(FORMAT),--format $(call quoted,$(FORMAT))) \
	  $(shop) "$$@" || { status=$$?; if [ $$status = 3 ]; then \
	  echo "make import: done, and some rows were rejected and kept. That is exit status 3, which make calls" \
	    "Error 3 and passes on as 2; nothing crashed." >&2; fi; exit $$status; }

.PHONY: rollup
rollup: $(READY) ## bring the answers up to date with everything imported [SHOP=...]
	@$(PYTHON) -m jobs rollup $(shop)

.PHONY: backfill
backfill: $(READY) ## compute the days FROM=... TO=... again from the raw rows [SHOP=...]
	@if [ -z $(call quoted,$(FROM)) ] || [ -z $(call quoted,$(TO)) ]; then \
	  echo "Usage: make backfill FROM=2026-01-01 TO=2026-01-31 [SHOP=example.myshopify.com]" >&2; exit 2; fi
	@$(PYTHON) -m jobs backfill --from $(call quoted,$(FROM)) --to $(call quoted,$(TO)) $(shop)

.PHONY: rebuild
rebuild: $(READY) ## compute everything again from the raw rows [SHOP=...]
	@$(PYTHON) -m jobs rebuild $(shop)

.PHONY: verify
verify: $(READY) ## compare everything stored with the raw rows [SHOP=...]
	@$(PYTHON) -m jobs verify --all $(shop)

.PHONY: backup
backup: $(READY) ## write the whole warehouse to FILE=..., while everything runs
	@if [ -z $(call quoted,$(FILE)) ]; then echo "Usage: make backup FILE=warehouse.backup" >&2; exit 2; fi
	@$(PYTHON) -m jobs backup $(call quoted,$(FILE))

.PHONY: restore
restore: $(READY) ## replace the warehouse by the backup FILE=... [FORCE=1]
	@if [ -z $(call quoted,$(FILE)) ]; then echo "Usage: make restore FILE=warehouse.backup" >&2; exit 2; fi
	@$(PYTHON) -m jobs restore $(if $(FORCE),--force) $(call quoted,$(FILE))

.PHONY: migration
migration: $(READY_TO_CHECK) ## NAME=...: write a revision with what warehouse/tables has and the newest one lacks
	@if [ -z $(call quoted,$(NAME)) ]; then echo "Usage: make migration NAME='answers per page'" >&2; exit 2; fi
	@$(PYTHON) -m warehouse.migrations $(call quoted,$(NAME))
	@$(PYTHON) -m ruff format --quiet warehouse/migrations/versions

# Needs Node. The result is committed with the hash of each source: `make test` needs no Node.
.PHONY: line
line: ## make the line for pages small: web/collector/static into web/collector/built
	@cd web/collector/static && find . -name '*.js' -printf '%P\n' | LC_ALL=C sort | while read -r file; do \
	  mkdir -p "../built/$$(dirname "$$file")"; \
	  npx --yes terser@$(TERSER) "$$file" --module --toplevel --ecma 2020 --mangle \
	    --compress passes=3,unsafe_arrows=true --output "../built/$$file" </dev/null; \
	  sha256sum "$$file"; done >../built/SOURCES
	@# A browser that has one of them from before takes the other anew.
	@part=$$(sed -n 's/^\(.\{8\}\).*  sending.js$$/\1/p' web/collector/built/SOURCES); \
	  sed -i "s/sending\.js/&?$$part/" web/collector/built/formrevenue.js

.PHONY: dist
dist: $(READY_TO_CHECK) ## make the wheel and its source archive in dist/; the same tree makes the same bytes
	@$(PYTHON) -m tests.system.bill
	@$(PYTHON) -m build --no-isolation --outdir dist .

.PHONY: screenshots
screenshots: $(READY_TO_CHECK) ## take the README's pictures of the demo anew [ALL=folder for every page] [LANGUAGE=de]
	@$(PYTHON) -m tests.system.browser.screenshots $(if $(ALL),--all $(call quoted,$(ALL))) \
	  $(if $(LANGUAGE),--language $(call quoted,$(LANGUAGE)))

$(READY_TO_BENCH): requirements-bench.lock $(READY_TO_CHECK)
	@$(PYTHON) -m venv --clear $(CLICKHOUSE)
	@$(CLICKHOUSE)/bin/python $(PIP_INSTALL) requirements-bench.lock
	@touch $@

.PHONY: bench
bench: $(READY_TO_BENCH) ## [SIZE=50k|1M|5M|20M] [DB=sqlite|postgresql|both]: how fast it is here
	@$(PYTHON) -m tests.bench $(if $(SIZE),--size $(SIZE)) $(if $(DB),--db $(DB))
