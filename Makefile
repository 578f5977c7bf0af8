# Every target bootstraps the virtual environment it needs; nothing is done by hand before.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
PYTEST := $(BIN)/python -m pytest
# what writes to a cluster is never run on the way
ACCEPTANCE := tests/acceptance

.PHONY: demo test test-outside test-rest lint check bench campaign acceptance format lock schema help

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

$(STAMP): requirements.lock pyproject.toml hatch_build.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP) ## a fleet in the embedded store: asked, changed, rendered into ./gitops, served on port 8000
	$(BIN)/trellis demo

check: lint ## format, lint, types, contracts, quick tests
	$(PYTEST) -q -m "not neo4j and not crash and not volume" --ignore=$(ACCEPTANCE)

# The two halves take about as long as each other; a machine with two cores runs them side by side.
test: lint ## everything, Neo4j included; says what it could not run
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-outside test-rest

# what talks to Neo4j, to Node's clients and to a browser, and what attacks
OUTSIDE := tests/attacks tests/conformance tests/journeys tests/api/console

test-outside: $(STAMP)
	$(PYTEST) -m neo4j --ignore=$(ACCEPTANCE)
	$(PYTEST) -m "not neo4j" $(OUTSIDE)

test-rest: $(STAMP)
	$(PYTEST) -m "not neo4j" $(OUTSIDE:%=--ignore=%) --ignore=$(ACCEPTANCE)

acceptance: $(STAMP) ## real Flux and Argo CD on the disposable cluster that KUBECONFIG names
	$(PYTEST) $(ACCEPTANCE)

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright --project pyproject.toml
	$(BIN)/lint-imports

campaign: $(STAMP) ## the long forms: millions of comparisons, thousands of crashes
	$(PYTEST) -m "volume or crash" --scale campaign --timeout 0

bench: $(STAMP) ## side-by-side ratios into bench/results and bench/README.md
	$(BIN)/python -m bench

format: $(STAMP) ## rewrite the sources in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

schema: $(STAMP) ## print schema.graphql anew, and what its changes break since the last release
	$(BIN)/python -m api.schema.print > schema.graphql
	$(BIN)/python -m api.schema.report

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
    --no-header --no-annotate

lock: $(STAMP) ## compile the lock files anew from pyproject.toml: everything, to run, to build
	$(BIN)/python -m pip install --quiet uv
	$(COMPILE) --group dev pyproject.toml -o requirements.lock
	$(COMPILE) --constraint requirements.lock pyproject.toml -o requirements-run.lock
	echo 'hatchling>=1.27' | $(COMPILE) --constraint requirements.lock - -o requirements-build.lock
