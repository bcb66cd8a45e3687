# On a machine with Python and make, `make demo` and `make test` do all their own set-up.
PYTHON ?= python3
BIN := .venv/bin
export NUMBA_CACHE_DIR := $(CURDIR)/.cache/numba

.PHONY: demo test test-slow test-nojit lint type docs linkcheck dist bench clean

demo: .venv/.user
	@$(BIN)/ocoboost reproduce --quick

test: .venv/.dev
	$(BIN)/pytest -n auto --dist worksteal -q

test-slow: .venv/.dev
	$(BIN)/pytest -n auto --dist worksteal -q -m slow

# The kernels' own tests once more, uncompiled: readable tracebacks, and the same draws.
test-nojit: .venv/.dev
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n auto --dist worksteal -q -W ignore::RuntimeWarning -m "kernels and not slow"

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

type: .venv/.dev
	$(BIN)/mypy

# Any warning is an error: a link or a reference that leads nowhere.
docs: .venv/.docs
	$(BIN)/sphinx-build -q -W --keep-going docs build/site
	@echo "The site begins at build/site/index.html"

# Every link and anchor within the site; addresses elsewhere are not asked.
linkcheck: .venv/.docs
	$(BIN)/sphinx-build -q -W --keep-going -b linkcheck docs build/links

# Build sdist and wheel, and try the wheel in an empty environment without a network.
dist: .venv/bin/python
	$(BIN)/python tools/release.py

bench: .venv/.dev
	$(BIN)/python benchmarks/foreign_learners.py run $(ARGS)

clean:
	rm -rf .venv .cache build dist

.venv/bin/python:
	@echo "Setting up .venv (a minute or two, once)"
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip

.venv/.user: .venv/bin/python pyproject.toml
	$(BIN)/pip install --quiet --editable ".[cli]"
	@touch $@

.venv/.dev: .venv/.user
	$(BIN)/pip install --quiet --group dev
	@touch $@

.venv/.docs: .venv/.user
	$(BIN)/pip install --quiet --group docs
	@touch $@
