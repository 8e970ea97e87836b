# make run   installs what is needed into .venv (once) and starts the dashboard
# make test  installs the test tools too, then lint, format, types and tests
# Another interpreter: make run PYTHON=/path/to/python3.12

PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
BIN := .venv/bin
RUN_ARGS ?=
PYTEST_ARGS ?= -n auto --dist loadgroup

.PHONY: run test clean

run: .venv/.installed
	@$(BIN)/python -m dashboard $(RUN_ARGS)

test: .venv/.installed-test
	@status=0; \
	$(BIN)/ruff check . || status=1; \
	$(BIN)/ruff format --check . || status=1; \
	$(BIN)/mypy || status=1; \
	$(BIN)/python -m pytest $(PYTEST_ARGS) || status=1; \
	exit $$status

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Mixdesk needs Python 3.11 or later: make $(or $(MAKECMDGOALS),run) PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Creating .venv with $(PYTHON)"
	@$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing Mixdesk into .venv (a minute or two, once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

.venv/.installed-test: .venv/.installed
	@echo "Installing the test tools into .venv (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test]"
	@touch $@
