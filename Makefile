# Two commands on a fresh machine with Python 3.11 or later: `make run` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python
BENCH := $(VENV)/bench
JOBS ?= 3
SECONDS ?= 60
PYTEST := $(BIN)/pytest -n $(JOBS) --dist worksteal $(if $(SEED),--randomly-seed=$(SEED))

.PHONY: run test test-all test-rest mutants coverage lint bench docs requirements clean

run: $(VENV)/run.done ## install, and serve on 127.0.0.1
	$(BIN)/afterglow serve $(ARGS)

test: lint ## install what the tests need, and run the quick suite; repeat an order with SEED=…
	$(PYTEST) $(ARGS)

test-all: lint ## everything: every test on both databases, and campaigns of SECONDS each
	$(PYTEST) --whole --seconds $(SECONDS) $(ARGS)

mutants: $(VENV)/dev.done ## take out one guard after the other, and see that the quick suite notices
	$(BIN)/python -m tests.mutants $(ARGS)

coverage: $(VENV)/dev.done ## lines and branches that test-all reaches, also in the processes that tests start
	rm -rf .build/coverage
	$(BIN)/coverage run -m pytest -n $(JOBS) --dist worksteal --whole --seconds $(SECONDS) $(ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

test-rest: $(VENV)/dev.done ## what the quick suite leaves out
	$(PYTEST) --rest --seconds $(SECONDS) $(ARGS)

lint: $(VENV)/dev.done
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

docs: $(VENV)/dev.done ## write the generated pages anew
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
