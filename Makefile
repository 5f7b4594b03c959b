# The recipes of the house. Each one starts from nothing: it makes .venv, installs what
# pyproject.toml asks for, builds the kernel in release mode, and says what it is doing.
# CI runs the same: .ci/run is `make test`.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
CARGO_FILES := Cargo.toml $(wildcard Cargo.lock) $(wildcard crates/*/Cargo.toml)
RUST_FILES := $(shell find crates -name '*.rs')
# A worker takes whole files, those with Spark first, so that what a file sets up is set up once.
PYTEST := $(BIN)/pytest --dist loadfile --no-loadscope-reorder
# Rust tests are a debug build, in a third of the time of a release; lines are enough in a backtrace.
export CARGO_PROFILE_DEV_DEBUG := line-tables-only

say = @printf '==> %s\n' $(1)
need = @command -v $(1) >/dev/null || { echo "ebbtide: $(1) was not found: $(2)" >&2; exit 1; }

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---- the environment -------------------------------------------------------------------------

.PHONY: cargo java
cargo:
	$(call need,cargo,install Rust from https://rustup.rs)
java:
	@test -x "$${JAVA_HOME:-/nowhere}/bin/java" || command -v java >/dev/null || { \
	  echo "ebbtide: Spark needs a Java runtime of version 17 or newer and none was found:" \
	       "install one (Debian: apt install openjdk-17-jre-headless) or set JAVA_HOME" >&2; exit 1; }

PIP := $(BIN)/pip install --quiet --disable-pip-version-check
MATURIN := VIRTUAL_ENV=$(CURDIR)/$(VENV) PIP_QUIET=1 $(BIN)/maturin
# Everything pyproject.toml names, extras included, one requirement a line, maturin first.
REQUIREMENTS := import tomllib; \
  project = tomllib.load(open("pyproject.toml", "rb")); \
  wanted = project["build-system"]["requires"] + project["project"]["dependencies"]; \
  extras = project["project"]["optional-dependencies"].values(); \
  print(*wanted, *(one for extra in extras for one in extra), sep="\n")

# The kernel needs maturin alone, so it is built while the other packages come.
$(VENV)/.maturin: pyproject.toml | cargo
	$(call need,$(PYTHON),install Python 3.11 or set PYTHON=/path/to/python)
	$(call say,"making $(VENV) with $(PYTHON)")
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c '$(REQUIREMENTS)' > $(VENV)/requirements.txt
	@$(PIP) "$$(head --lines 1 $(VENV)/requirements.txt)"
	@touch $@

$(VENV)/.kernel: $(VENV)/.maturin $(CARGO_FILES) $(RUST_FILES)
	$(call say,"building the kernel in release mode (a minute or two at first)")
	@$(MATURIN) develop --release --quiet --skip-install
	@touch $@

$(VENV)/.packages: $(VENV)/.maturin
	$(call say,"installing the Python packages (Spark alone is 450 MB)")
	@$(PIP) --requirement $(VENV)/requirements.txt
	@touch $@

# The kernel is there, so this compiles nothing: it makes the command `ebbtide`.
$(VENV)/.installed: $(VENV)/.packages | $(VENV)/.kernel
	@$(MATURIN) develop --release --quiet
	@touch $@

.PHONY: ready
ready: $(VENV)/.packages $(VENV)/.kernel $(VENV)/.installed ## set up .venv and build the kernel

# From an archive of its classes Spark starts in two thirds of the processor time. Making it takes
# as long as five starts save, so only those who start it often do.
export EBBTIDE_CLASSES := $(CURDIR)/$(VENV)/spark.jsa
$(EBBTIDE_CLASSES): $(VENV)/.packages | java $(VENV)/.kernel $(VENV)/.installed
	$(call say,"keeping the classes of Spark in an archive from which it starts sooner")
	@$(BIN)/python -m ebbtide.pipeline.archive $@

# ---- what people ask for ---------------------------------------------------------------------

.PHONY: demo
demo: java ready ## commuters in trains, live, on local Spark (about 30 seconds)
	@$(BIN)/ebbtide demo

# What needs no kernel is done while that is built: its last part keeps one core busy, no more. Two
# jobs may wait, one for the network and one for Cargo's lock, so four keep two cores busy.
.PHONY: test
test: java ## everything CI runs: lint, Rust tests, Python tests and doctests
	@$(MAKE) --no-print-directory --jobs 4 ready lint test-rust $(EBBTIDE_CLASSES)
	$(call say,"Python tests and doctests")
	@$(PYTEST) -n 2 -m 'not install and not chaos and not cluster'

.PHONY: test-rust
test-rust: cargo
	$(call say,"Rust tests")
	@MAKEFLAGS= cargo test --quiet --package ebbtide-kernel --package ebbtide-formats --package ebbtide-sparql

.PHONY: test-fast
test-fast: ready ## the Python tests that need neither Spark nor patience
	@$(PYTEST) -n 2 -m 'not spark and not install and not chaos and not cluster'

.PHONY: test-install
test-install: ready ## a wheel in a fresh environment: light, and complete (slow)
	$(call say,"installing the wheel into an empty environment")
	@$(PYTEST) -m install tests/install

.PHONY: conformance
conformance: ready ## the W3C suites, LUBM and a peer, and docs/conformance.md
	$(call say,"writing docs/conformance.md")
	@$(BIN)/python -m tests.conformance
	$(call say,"the conformance suites")
	@EBBTIDE_CITYBENCH_ROWS=40 EBBTIDE_CITYBENCH_ALL_ROWS=1000 $(PYTEST) -n 2 tests/conformance

.PHONY: chaos
chaos: java ready $(EBBTIDE_CLASSES) ## kill -9 pipelines on Spark 36 times, and compare (slow)
	$(call say,"killing drivers: 14 times in the driver and 12 in shards and 10 in DataFrames")
	@$(PYTEST) -s -m chaos tests/pipeline $(ARGS)

.PHONY: parts
parts: java ready ## fetch Kafka, its Spark connector and mosquitto into ~/.cache/ebbtide/parts
	@$(BIN)/python -m tests.cluster.fetch

.PHONY: test-cluster
test-cluster: parts $(EBBTIDE_CLASSES) ## pipelines with real brokers and a standalone Spark cluster (some minutes)
	$(call say,"pipelines with Kafka and MQTT and a standalone cluster")
	@$(PYTEST) -m cluster tests/cluster

.PHONY: lint lint-python lint-package lint-rust
lint: lint-python lint-rust lint-package ## format, types, import direction, stubs, clippy
lint-python: $(VENV)/.packages
	$(call say,"ruff")
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	$(call say,"mypy")
	@$(BIN)/mypy
lint-package: ready
	$(call say,"import direction")
	@$(BIN)/lint-imports --no-cache > $(VENV)/lint-imports.log || { cat $(VENV)/lint-imports.log; exit 1; }
	$(call say,"stubs of the kernel")
	@$(BIN)/stubtest ebbtide._kernel --concise
lint-rust: cargo
	$(call say,"cargo fmt and clippy")
	@cargo fmt --all --check
	@cargo clippy --quiet --workspace --all-targets -- -D warnings

.PHONY: format
format: ready ## rewrite Python and Rust in the house's format
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .
	@cargo fmt --all

.PHONY: docs
docs: ready ## rewrite the tables of docs/ that are made from the files they are about
	@$(BIN)/ebbtide rules table --into docs/regimes.md
	@$(BIN)/python -m tests.unit.rspql.shared_texts docs/languages/rspql.md

.PHONY: bench
bench: ready ## the paper's experiment, to report/ (ARGS='--quick' or any other option)
	@$(BIN)/ebbtide bench imars --report report $(ARGS)

.PHONY: bench-queries
bench-queries: ready ## continuous queries against their peers, to report/queries (ARGS as above)
	@$(BIN)/ebbtide bench queries --peers --report report/queries $(ARGS)

.PHONY: bench-regimes
bench-regimes: ready ## OWL 2 RL against its peers from PyPI, to report/regimes (ARGS as above)
	@$(BIN)/ebbtide bench regimes --peers --report report/regimes $(ARGS)

.PHONY: fuzz
fuzz: ready ## every parser against random bytes, for FUZZ_SECONDS (60)
	@$(BIN)/python -m tests.fuzz --seconds $${FUZZ_SECONDS:-60}

.PHONY: wheel
wheel: $(VENV)/.maturin cargo ## a release wheel in dist/
	$(call say,"building the wheel")
	@$(MATURIN) build --release --quiet --out dist
	@ls -1 dist

.PHONY: clean
clean: ## forget everything that was made
	@rm -rf $(VENV) target dist report python/ebbtide/_kernel*.so .mypy_cache .ruff_cache .pytest_cache .hypothesis
