# Two commands on a fresh machine with Python 3.11 or later: `make run` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python
BENCH := $(VENV)/bench
JOBS ?= 3
SECONDS ?= 60
ifndef SEED
SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
endif
PYTEST_OPTIONS := -n $(JOBS) --dist worksteal --randomly-seed=$(SEED) --hypothesis-seed=$(SEED)
PYTEST := $(BIN)/pytest $(PYTEST_OPTIONS)

.PHONY: run test test-all test-rest mutants coverage lint bench docs requirements clean

run: $(VENV)/run.done ## install, and serve on 127.0.0.1
	$(BIN)/afterglow serve $(ARGS)

test: lint ## install what the tests need, lint, and run the quick suite; SEED=… repeats an order
	$(PYTEST) $(ARGS)

test-all: lint ## lint, and run every test on both databases and each campaign for SECONDS
	$(PYTEST) --whole --seconds $(SECONDS) $(ARGS)

mutants: $(VENV)/dev.done ## remove one guard at a time from a copy of the code; fail unless a test of the quick suite fails
	$(BIN)/python -m tests.mutants $(ARGS)

coverage: $(VENV)/dev.done ## measure the lines and branches that test-all reaches, in started processes too
	rm -rf .build/coverage
	$(BIN)/coverage run -m pytest $(PYTEST_OPTIONS) --whole --seconds $(SECONDS) $(ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

test-rest: $(VENV)/dev.done ## run what the quick suite leaves out
	$(PYTEST) --rest --seconds $(SECONDS) $(ARGS)

lint: $(VENV)/dev.done ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

bench: $(BENCH)/bench.done ## measure beside the peers, in an environment of their own, and write benchmarks/results
	$(BENCH)/bin/python -m benchmarks.store
	$(BENCH)/bin/python -m benchmarks.agents_session
	$(BENCH)/bin/python -m benchmarks.start
	$(BENCH)/bin/python -m benchmarks.effect_of_waiting
	$(BENCH)/bin/python -m benchmarks.away
	$(BENCH)/bin/python -m benchmarks.agent
	$(BENCH)/bin/python -m benchmarks.compaction
	$(BENCH)/bin/python -m benchmarks.compaction --long

docs: $(VENV)/dev.done ## write the generated pages
	$(BIN)/python -m tests.generated

requirements: $(VENV)/uv.done ## pin the newest versions
	$(BIN)/python requirements/compile.py

clean:
	rm -rf $(VENV)

$(VENV)/uv.done: requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Afterglow needs Python 3.11 or later; this is %d.%d. Try: make PYTHON=python3.12 run" % sys.version_info[:2])'
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

$(VENV)/run.done: $(VENV)/uv.done requirements/run.txt pyproject.toml
	@echo "Installing Afterglow into $(VENV) …"
	@$(UV) -r requirements/run.txt --require-hashes
	@$(UV) --no-build-isolation --no-deps --editable .
	@touch $@

$(VENV)/dev.done: $(VENV)/uv.done requirements/dev.txt pyproject.toml
	@echo "Installing what the tests need into $(VENV) …"
	@$(UV) -r requirements/dev.txt --require-hashes
	@$(UV) --no-build-isolation --no-deps --editable .
	@touch $@

$(BENCH)/bench.done: $(VENV)/uv.done requirements/bench.txt pyproject.toml
	@echo "Installing the peers into $(BENCH) …"
	@[ -x $(BENCH)/bin/python ] || $(PYTHON) -m venv $(BENCH)
	@$(BIN)/uv pip install --quiet --python $(BENCH)/bin/python -r requirements/bench.txt --require-hashes
	@$(BIN)/uv pip install --quiet --python $(BENCH)/bin/python --no-build-isolation --no-deps --editable .
	@touch $@
