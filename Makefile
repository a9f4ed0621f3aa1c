# Everything that one does with this project. `make` alone lists it.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.SUFFIXES:

PYTHON := .venv/bin/python
# Processes that run the tests: two is the fastest on two cores.
TEST_WORKERS ?= 2
# The lock has all dependencies; it is made from pyproject.toml by
#   uv pip compile --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
#     --no-header --no-annotate --no-emit-index-url --extra dev pyproject.toml -o requirements.lock
READY := .venv/.ready

# Whole words from the command line go to the commands quoted, so that names may hold spaces.
quoted = '$(subst ','\'',$(1))'
shop = $(if $(SHOP),--shop $(call quoted,$(SHOP)))

.PHONY: help
help: ## this list
	@echo "Usage: make <target>"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(READY) ## the environment alone, in .venv

$(READY): requirements.lock pyproject.toml
	@python=; \
	for name in python3 python3.13 python3.12 python3.11 python3.14; do \
	  if command -v $$name >/dev/null && $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))'; \
	  then python=$$name; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "setup: Python 3.11 or newer is needed, and is not on the PATH." >&2; exit 1; fi; \
	if ! $$python -c 'import venv, ensurepip' 2>/dev/null; then \
	  echo "setup: $$python lacks its venv module; on Debian or Ubuntu: apt-get install python3-venv" >&2; \
	  exit 1; fi; \
	echo "setup: building .venv with $$($$python --version)" >&2; \
	$$python -m venv --clear .venv
	@# Bytecode on both cores, and not of the libraries' own tests: that halves the time of pip's own way.
	@# Left out, each command would take two seconds longer where Python may not write any later.
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-compile \
	  --require-hashes -r requirements.lock
	@$(PYTHON) -m compileall -q -j 0 -x '/(tests|pip)/' .venv/lib jobs warehouse web
	@touch $@

.PHONY: demo
demo: $(READY) ## a demo shop with DAYS (120) of data, a key, example calls, served on PORT (8000)
	@PYTHON=$(PYTHON) exec jobs/demo/run

.PHONY: test
test: $(READY) ## all tests
	@$(PYTHON) -m pytest -n $(TEST_WORKERS) --dist worksteal

.PHONY: lint
lint: $(READY) ## style and types
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy

.PHONY: run
run: $(READY) ## the API, on HOST (127.0.0.1) and PORT (8000)
	@exec $(PYTHON) -m web serve

.PHONY: scheduler
scheduler: $(READY) ## the scheduled jobs
	@exec $(PYTHON) -m jobs scheduler

.PHONY: import
import: $(READY) ## KIND=events FILE=... [FORMAT=... SHOP=...]: take files in (FILE may hold several)
	@if [ -z $(call quoted,$(KIND)) ] || [ -z $(call quoted,$(FILE)) ]; then \
	  echo "Usage: make import KIND=events FILE=events.ndjson" >&2; \
	  echo "KIND: shops forms events orders ad-spend ad-accounts exchange-rates" >&2; exit 2; fi
	@$(PYTHON) -m jobs import $(call quoted,$(KIND)) $(if $(FORMAT),--format $(call quoted,$(FORMAT))) $(shop) $(FILE)

.PHONY: rollup
rollup: $(READY) ## compute everything that changed since the last one [SHOP=...]
	@$(PYTHON) -m jobs rollup $(shop)

.PHONY: backfill
backfill: $(READY) ## FROM=... TO=... [SHOP=...]: those days anew from raw
	@if [ -z $(call quoted,$(FROM)) ] || [ -z $(call quoted,$(TO)) ]; then \
	  echo "Usage: make backfill FROM=2026-01-01 TO=2026-01-31 [SHOP=example.myshopify.com]" >&2; exit 2; fi
	@$(PYTHON) -m jobs backfill --from $(call quoted,$(FROM)) --to $(call quoted,$(TO)) $(shop)

.PHONY: rebuild
rebuild: $(READY) ## [SHOP=...]: all facts and summaries anew from raw
	@$(PYTHON) -m jobs rebuild $(shop)

.PHONY: verify
verify: $(READY) ## [SHOP=...]: compute all days from raw again and compare
	@$(PYTHON) -m jobs verify --all $(shop)

.PHONY: backup
backup: $(READY) ## FILE=...: the whole warehouse as one file, while everything runs
	@if [ -z $(call quoted,$(FILE)) ]; then echo "Usage: make backup FILE=warehouse.backup" >&2; exit 2; fi
	@$(PYTHON) -m jobs backup $(call quoted,$(FILE))

.PHONY: restore
restore: $(READY) ## FILE=... [FORCE=1]: a backup in the place of the warehouse
	@if [ -z $(call quoted,$(FILE)) ]; then echo "Usage: make restore FILE=warehouse.backup" >&2; exit 2; fi
	@$(PYTHON) -m jobs restore $(if $(FORCE),--force) $(call quoted,$(FILE))

.PHONY: bench
bench: $(READY) ## [SIZE=50k|1M|5M|20M] [DB=sqlite|postgresql|both]: how fast it is here
	@$(PYTHON) -m tests.bench $(if $(SIZE),--size $(SIZE)) $(if $(DB),--db $(DB))
