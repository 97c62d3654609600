# Each target sets up its own virtual environment when there is none; a second call does not install again.
# Another Python gets an environment of its own: `make test PYTHON=python3.13`.
PYTHON ?= python3
VENV   ?= .venv$(if $(filter-out python3,$(notdir $(PYTHON))),-$(notdir $(PYTHON)))
BIN    := $(VENV)/bin
CORE   := $(VENV)/.core
TESTED := $(VENV)/.tested
READY  := $(VENV)/.ready
# constraints.txt has the versions that were run with each Python, so that a release elsewhere changes nothing here.
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Tests start some hundred processes: what one has compiled to bytecode, the next does not.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: paper test quick test-all atlas bench coverage dist docs lint clean help

help:           ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/'

# The core alone reproduces the paper; the tests add pytest and what they compare with; the rest is for developers.
$(CORE): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	@touch $@

$(TESTED): $(CORE)
	$(PIP) -e ".[test]"
	@touch $@

# OpenSpiel is an independent reference for the tests; where it has no wheel, those tests say so and are skipped.
$(READY): $(TESTED)
	$(PIP) -e ".[dev]"
	$(PIP) --only-binary :all: "open_spiel>=1.6" \
		|| echo "no OpenSpiel wheel for this Python: the tests that compare with it will be skipped"
	@touch $@

paper: $(CORE)   ## what can be reproduced of the paper today
	$(BIN)/python papers/mao2022/reproduce.py --quick

lint: $(READY)   ## ruff (lint and format), mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Two processes test on two cores: threads of BLAS beside them would only wait for each other.
test quick test-all: export OPENBLAS_NUM_THREADS = 1

test: $(READY)   ## all tests that tell whether tacit works, on both cores (minutes)
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow"

QUICK := tests/bandits tests/evaluation tests/policies tests/core/test_generics.py \
	tests/learners/test_learner_formulas.py tests/learners/test_portfolio.py
quick: $(TESTED)   ## what a change needs first, about a minute; also with another PYTHON
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow" $(QUICK)

test-all: $(VENV)/.gambit   ## the same and the long ones
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

# numba imports coverage in every process where it is installed.
coverage: $(READY)  ## which lines the tests run, as pages in build/coverage (a report, not a goal)
	$(PIP) "pytest-cov>=5"
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow" --cov --cov-report=html:build/coverage --cov-report=term:skip-covered

dist: $(READY)   ## wheel and sdist in dist
	$(PIP) build
	$(BIN)/python -m build

atlas: $(READY)  ## the atlas: check every figure that others stated, learn what was not learned yet, the page and the picture
	$(BIN)/python benchmarks/atlas.py --learn

bench: $(READY)  ## measure, ours and others' side by side
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/learning.py
	$(BIN)/python benchmarks/formats.py
	$(BIN)/python benchmarks/cluster.py --runs 20

clean:           ## remove what was built and measured
	rm -rf .venv .venv-* build dist results .pytest_cache .mypy_cache .ruff_cache .hypothesis
