# Each target sets up its own virtual environment when there is none; a second call does not install again.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
CORE   := $(VENV)/.core
READY  := $(VENV)/.ready
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Tests start some hundred processes: what one has compiled to bytecode, the next does not.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: paper test pytest test-all atlas bench coverage dist docs lint clean help

help:           ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/'

# The core alone reproduces the paper; all other targets add what develops and tests it: Ray, Dask, Sphinx and more.
$(CORE): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	@touch $@

# OpenSpiel is an independent reference for the tests; where it has no wheel, those tests say so and are skipped.
$(READY): $(CORE)
	$(PIP) -e ".[dev]"
	$(PIP) --only-binary :all: "open_spiel>=1.6" \
		|| echo "no OpenSpiel wheel for this Python: the tests that compare with it will be skipped"
	@touch $@

paper: $(CORE)   ## what can be reproduced of the paper today
	$(BIN)/tacit reproduce --quick

lint: $(READY)   ## ruff (lint and format), mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Types are checked by one process, beside which tests begin.
test: $(READY)   ## all checks, on both cores (minutes)
	$(MAKE) --no-print-directory -j 2 lint pytest

pytest: $(READY)
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow"

test-all: lint $(VENV)/.gambit   ## the same and the long ones
	$(BIN)/pytest -n 2 --dist worksteal

# Gambit has no wheel and compiles for minutes, so only the long tests compare with it; where it cannot be built, they
# say so and are skipped.
$(VENV)/.gambit: $(READY)
	$(PIP) pygambit \
		|| echo "pygambit could not be built: the tests that compare with it will be skipped"
	@touch $@

docs: $(READY)   ## the site in build/docs/html: notebooks are executed, warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/docs/doctrees docs build/docs/html
	@echo "open build/docs/html/index.html"

coverage: $(READY)  ## which lines the tests run, as pages in build/coverage (a report, not a goal)
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow" --cov --cov-report=html:build/coverage --cov-report=term:skip-covered

dist: $(READY)   ## wheel and sdist in dist
	$(PIP) build
	$(BIN)/python -m build

atlas: $(READY)  ## the atlas: check every figure that others stated, learn what was not learned yet, the page and the picture
	$(BIN)/tacit atlas --learn 100000 --out docs/atlas.json
	$(BIN)/python benchmarks/atlas.py

bench: $(READY)  ## measure, ours and others' side by side
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/learning.py
	$(BIN)/python benchmarks/formats.py
	$(BIN)/python benchmarks/cluster.py --runs 20

clean:           ## remove what was built and measured
	rm -rf $(VENV) build dist results .pytest_cache .mypy_cache .ruff_cache .hypothesis
