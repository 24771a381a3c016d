# Every target sets up what it needs: python3 (3.11 or newer), pip and make are enough.
# Another interpreter: make test PYTHON=/path/to/python3.12

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# The pip beside $(PYTHON) fills the environment, so Debian's separate ensurepip is not needed.
PIP := $(PYTHON) -m pip --disable-pip-version-check --python $(BIN)/python

LOCKED := $(VENV)/.locked
INSTALLED := $(VENV)/.installed
DOCS := $(VENV)/docs/.installed
BROWSER := $(VENV)/browser/.installed
SCHEMATHESIS := $(VENV)/schemathesis/.installed
VALIDATORS := $(VENV)/validators/.installed

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test test-browser test-mlflow test-api test-slow check lint deploy-check smoke bench reproduce data docs screenshots dist lock clean

help:
	@echo "Begin"
	@echo "  make demo       evaluate a spam filter on real e-mails into MLflow and write its report"
	@echo "  make setup      only create $(VENV) from requirements.lock"
	@echo
	@echo "Test"
	@echo "  make test       the tests, documentation examples among them"
	@echo "  make test-api   the JSON API under schemathesis, with links, against a real server"
	@echo "  make test-browser  the pages in Chromium, which must be installed: alone and inside MLflow"
	@echo "  make test-mlflow  pages in servers of another version of MLflow: MLFLOW=3.9"
	@echo "  make test-slow  the rest: the demonstration, rounds through crashes and outages, coverage over many runs"
	@echo "  make check      lint, format, types, import rules, documentation examples, workflow files"
	@echo "  make lint       the same without the examples, which make test runs too"
	@echo "  make deploy-check  the files of deploy/, by the tools that read them, as far as these are installed"
	@echo "  make smoke      use the wheel with the lowest versions it allows"
	@echo "                  VERSIONS=highest the newest, PYTHON=/path/to/python3.14 another interpreter"
	@echo
	@echo "Measure"
	@echo "  make bench      interval coverage, then speed and memory"
	@echo "  make reproduce  the papers' figures and tables beside ours, with a page of pictures"
	@echo "                  ONLY=aul one paper or row, REPRODUCE_FLAGS=--quick a smoke run, OFFLINE=1"
	@echo "  make data       fetch published data sets that are missing; NAMES='iris wilt' these alone"
	@echo
	@echo "Write and publish"
	@echo "  make docs       the documentation as a site in site/, from docs/ and the code"
	@echo "  make screenshots  pictures of pages and report, by Chromium from the demonstration"
	@echo "  make dist       wheel, sources and the list of their parts (SBOM) in dist/"
	@echo "  make lock       write the locks anew from pyproject.toml (Python 3.11)"
	@echo "                  LOCK_FLAGS=--upgrade takes the newest versions"
	@echo "  make clean      remove $(VENV), caches and build output"

setup: $(INSTALLED)

$(LOCKED): requirements.lock
	@$(PYTHON) -c "import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else 'pumonitor needs Python 3.11 or newer, $(PYTHON) is %d.%d; name another: make PYTHON=/path/to/python3.11' % v[:2])"
	@echo "Setting up $(VENV): a few minutes the first time."
	$(PYTHON) -m venv --without-pip $(VENV)
	$(PIP) install --quiet --no-compile --require-hashes --requirement requirements.lock
	@touch $@

$(INSTALLED): $(LOCKED) pyproject.toml pumonitor/__init__.py
	$(PIP) install --quiet --no-compile --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(INSTALLED)
	$(BIN)/pumonitor demo
	@echo "These commands are in $(BIN): source $(BIN)/activate"
	@echo "Open the pages: $(BIN)/pumonitor pages --config pumonitor-demo/alerts.yaml"

# Pictures of the documentation: the pages of the demonstration, light and dark.
screenshots: $(BROWSER)
	@test -e pumonitor-demo/alerts.yaml || $(MAKE) demo
	PYTHONPATH=$(VENV)/browser $(BIN)/python -m docs.from_code.screenshots pumonitor-demo

# One worker a core, each with one thread of its own: more would wait for each other. Tests go to the
# workers in order, so that what a file sets up is mostly set up once; `pytest` alone is one process.
# What one process has compiled the others read: workers, commands in processes of their own, the next run.
test: export OMP_NUM_THREADS = 1
test: export PYTHONDONTWRITEBYTECODE =
test: $(INSTALLED)
	$(BIN)/python -m pytest -n logical --maxprocesses 8 --dist worksteal -m "not slow and not browser" \
	--ignore tests/deploy/test_validators.py

# The pages in a browser, by a driver that lies beside the environment. One process: it starts servers.
test-browser: export OMP_NUM_THREADS = 1
test-browser: $(BROWSER)
	PYTHONPATH=$(VENV)/browser $(BIN)/python -m pytest -m browser tests/browser

$(BROWSER): requirements-browser.lock | $(INSTALLED)
	$(PIP) install --quiet --no-compile --no-deps --require-hashes --upgrade --target $(VENV)/browser --requirement requirements-browser.lock
	@touch $@

# Schemathesis lies beside the environment: it brings a test runner of its own.
test-api: $(SCHEMATHESIS)
	$(BIN)/python -m pytest tests/monitor/dashboard/test_api_by_schemathesis.py

$(SCHEMATHESIS): requirements-api.lock | $(INSTALLED)
	$(PIP) install --quiet --no-compile --no-deps --require-hashes --upgrade --target $(VENV)/schemathesis --requirement requirements-api.lock
	@touch $@

# The pages in real servers of another version of MLflow, in an environment of its own.
MLFLOW ?= 3.9
test-mlflow:
	$(PYTHON) -m venv --without-pip build/mlflow-$(MLFLOW)
	$(PYTHON) -m pip --disable-pip-version-check --python build/mlflow-$(MLFLOW)/bin/python install --quiet \
	--editable . 'mlflow==$(MLFLOW).*' flask-wtf hypothesis 'pytest>=9'
	build/mlflow-$(MLFLOW)/bin/python -m pytest tests/plugins/server

# The whole demonstration, rounds through crashes and outages, and coverage counted over many runs.
test-slow: export OMP_NUM_THREADS = 1
test-slow: export PYTHONDONTWRITEBYTECODE =
test-slow: $(INSTALLED)
	$(BIN)/python -m pytest -n logical --maxprocesses 8 --dist worksteal -m slow tests \
	--ignore tests/monitor/dashboard/test_api_by_schemathesis.py
	$(BIN)/python -m pytest --hypothesis-profile=thorough tests/properties

check: lint
	$(BIN)/python -m pytest --quiet pumonitor plugins

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports
	@if command -v actionlint >/dev/null; then actionlint; \
	else echo "actionlint is not installed: workflow files are checked by tests/packaging alone"; fi

# hadolint and kubernetes-validate come by pip, the other tools by apt: docker-compose, nginx-light,
# prometheus, prometheus-alertmanager, systemd.
deploy-check: $(VALIDATORS)
	PATH="$(abspath $(VENV))/validators/bin:$$PATH" $(BIN)/python -m pytest --quiet -rs tests/deploy/test_validators.py

$(VALIDATORS): requirements-validators.lock | $(INSTALLED)
	$(PIP) install --quiet --no-compile --no-deps --require-hashes --upgrade --target $(VENV)/validators --requirement requirements-validators.lock
	@touch $@

# uv finds the versions; it comes with pip (pip install uv) and is no part of the environment.
VERSIONS ?= lowest-direct
smoke:
	tests/packaging/smoke.sh $(VERSIONS) $(PYTHON)

# The parts are those of a fresh installation with the newest versions.
dist: $(INSTALLED)
	rm -rf dist build/parts
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(PYTHON) -m venv --without-pip build/parts
	$(PYTHON) -m pip --disable-pip-version-check --python build/parts/bin/python install --quiet dist/*.whl
	$(PYTHON) -m venv --without-pip build/tools
	$(PYTHON) -m pip --disable-pip-version-check --python build/tools/bin/python install --quiet cyclonedx-bom==7.5.0
	build/tools/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	--output-format JSON --output-file dist/pumonitor.cdx.json build/parts/bin/python

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks.coverage
	$(BIN)/python -m benchmarks.speed

# The site in site/. Its generator lies beside the environment, so that tests and the demonstration do
# not wait for it. A warning ends the build; nothing is fetched from a network.
docs: $(DOCS)
	PYTHONPATH=$(VENV)/docs NO_MKDOCS_2_WARNING=true $(BIN)/python -m mkdocs build --strict --quiet
	$(BIN)/python -m docs.from_code.site_check site
	@echo "Open site/index.html"

$(DOCS): requirements-docs.lock | $(INSTALLED)
	$(PIP) install --quiet --no-compile --no-deps --require-hashes --upgrade --target $(VENV)/docs --requirement requirements-docs.lock
	@touch $@

# Data sets that are neither in PUMONITOR_DATA nor in a package, from their public archives.
data: $(INSTALLED)
	$(BIN)/python -m benchmarks.datasets fetch $(NAMES)

# What is stored in reproduction/ is not computed again, so this can be stopped and taken up.
reproduce: $(INSTALLED)
	$(BIN)/python -m benchmarks.reproduce $(if $(OFFLINE),,--fetch) $(if $(ONLY),--only $(ONLY)) $(REPRODUCE_FLAGS)

# Only the main index is asked: hashes of wheels from a private one would fail elsewhere.
lock: $(LOCKED)
	@$(BIN)/python -c "import sys; sys.exit(0 if sys.version_info[:2] == (3, 11) else 'lock with the oldest supported Python: make clean, then make lock PYTHON=/path/to/python3.11')"
	PIP_CONFIG_FILE=/dev/null PIP_FIND_LINKS= PIP_EXTRA_INDEX_URL= \
	CUSTOM_COMPILE_COMMAND="make lock" \
	$(BIN)/python -m piptools compile --quiet --generate-hashes --allow-unsafe --strip-extras \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --extra=demo --extra=dev \
	$(LOCK_FLAGS) --output-file=requirements.lock pyproject.toml
	$(call LOCK_EXTRA,docs)
	$(call LOCK_EXTRA,api)
	$(call LOCK_EXTRA,browser)
	$(call LOCK_EXTRA,validators)
	PIP_CONFIG_FILE=/dev/null PIP_FIND_LINKS= PIP_EXTRA_INDEX_URL= \
	CUSTOM_COMPILE_COMMAND="make lock" \
	$(BIN)/python -m piptools compile --quiet --generate-hashes --allow-unsafe --strip-extras \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --extra=postgres --extra=features \
	--extra=delta --extra=iceberg --extra=mariadb \
	--constraint=requirements.lock $(LOCK_FLAGS) --output-file=deploy/container/requirements.lock pyproject.toml

# An extra that lies beside the environment, in versions that go with it: requirements-EXTRA.lock.
define LOCK_EXTRA
$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['$(1)'], sep='\n')" \
| PIP_CONFIG_FILE=/dev/null PIP_FIND_LINKS= PIP_EXTRA_INDEX_URL= \
CUSTOM_COMPILE_COMMAND="make lock" \
$(BIN)/python -m piptools compile --quiet --generate-hashes --allow-unsafe --strip-extras \
--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --constraint=requirements.lock \
$(LOCK_FLAGS) --output-file=requirements-$(1).lock -
endef

clean:
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
