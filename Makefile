# Every target bootstraps the virtual environment it needs; nothing is done by hand before.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
PYTEST := $(BIN)/python -m pytest

.PHONY: demo test check bench campaign format lock help

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP) ## a fleet in the embedded store, the seed sentence and others answered and explained
	$(BIN)/trellis demo

check: $(STAMP) ## format, lint, types, contracts, quick tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(PYTEST) -q -m "not neo4j and not crash and not volume"

test: $(STAMP) ## everything, Neo4j included; says what it could not run
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(PYTEST)

campaign: $(STAMP) ## the long forms: millions of comparisons, thousands of crashes
	$(PYTEST) -m "volume or crash" --scale campaign --timeout 0

bench: $(STAMP) ## side-by-side ratios into bench/results and bench/README.md
	$(BIN)/python -m bench

format: $(STAMP) ## rewrite the sources in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(STAMP) ## compile requirements.lock anew from pyproject.toml
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	    --no-header --no-annotate --group dev pyproject.toml -o requirements.lock
