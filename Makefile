# The two commands: `make check` shows the product on this machine, `make test` proves it. Both set everything up.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# The torch that the tests import. On Linux outside of CI, the CPU build is smaller:
#   make test TORCH_OPTIONS="--index-url https://download.pytorch.org/whl/cpu"
TORCH ?= torch==2.13.0
TORCH_OPTIONS ?=
DEMO := tests/recordings/05-m1pro-anaconda-x86_64-rosetta
SOURCES := mpsdoctor checks fixes training_smoke tests benchmarks scripts

.PHONY: check test lint types unit pyz docs clean

check: $(VENV)/.installed
	@$(BIN)/mpsdoctor check; status=$$?; [ $$status -le 1 ] || [ $$status -eq 3 ] || exit $$status
	@if [ "$$(uname -s)" != Darwin ]; then \
	    echo; echo "This is no Mac; here is a recorded one (mpsdoctor check --replay $(DEMO)):"; echo; \
	    $(BIN)/mpsdoctor check --replay $(DEMO); [ $$? -eq 1 ]; \
	fi

test: lint types unit

lint: $(VENV)/.tested
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/vermin --quiet --no-tips --target=3.10- --violations --eval-annotations mpsdoctor checks fixes
	$(BIN)/vermin --quiet --no-tips --target=3.7- --violations mpsdoctor/probes/target
	$(BIN)/vermin --quiet --no-tips --target=3.8- --violations training_smoke

types: $(VENV)/.tested
	$(BIN)/mypy mpsdoctor checks fixes

unit: $(VENV)/.tested
	$(BIN)/python -m pytest

# build/site: the documentation, made offline; a warning is an error.
docs: $(VENV)/.tested
	$(BIN)/python -m scripts.build_docs

# dist/mpsdoctor.pyz: one file that any Python 3.10+ runs, with nothing installed.
pyz: $(VENV)/.installed
	$(BIN)/python scripts/build_pyz.py

$(VENV)/.python:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.tested: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH_OPTIONS) "$(TORCH)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
