# Two commands do everything: `make demo` and `make test`. Both need only Python 3.11 to 3.13, make and git.

VENV := .venv
BIN := $(VENV)/bin
OK := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do $$p -c '$(OK)' 2>/dev/null && echo $$p && break; done)

# Two workers that take tests from each other's end: neighbours, which share fixtures and imports, stay together.
PYTEST = $(BIN)/python -m pytest -n 2 --dist worksteal --durations=15

.PHONY: demo test fast lint docs site wheel clean

demo: $(VENV)/.core ## install the core, run the quickstart study, print the answer and where the report is
	@$(BIN)/turngate study studies/quickstart.yaml --jobs 2

test: $(VENV)/.all ## install everything, run all tests
	@$(PYTEST)

fast: $(VENV)/.all ## run the tests that take no more than seconds
	@$(PYTEST) -m 'not slow'

lint: $(VENV)/.all
	@$(BIN)/ruff check --no-cache .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

docs: $(VENV)/.all ## execute the code blocks of README and docs
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile README.md docs agent graphs evaluators traces

site: $(VENV)/.all ## build the documentation as a site in site/; a broken link or anchor is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

wheel: $(VENV)/.all
	@rm -rf dist build
	@$(BIN)/python -m build --wheel --outdir dist . > /dev/null
	@ls dist

clean:
	rm -rf $(VENV) dist build site

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "turngate needs Python 3.11, 3.12 or 3.13: install one, or say make PYTHON=/path/to/python"; exit 2; }
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(VENV)/.core: pyproject.toml | $(BIN)/python
	@echo "installing turngate's core into $(VENV) (about a minute) ..."
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.all: pyproject.toml | $(BIN)/python
	@echo "installing turngate with all extras into $(VENV) (torch is large: some minutes) ..."
	@$(BIN)/python -m pip install --quiet --editable '.[all]' --group dev
	@touch $@ $(VENV)/.core
