# Two front doors: `make run` and `make test`. The rest is what they are made of.

VENV   := .venv
PYTHON := $(VENV)/bin/python
STAMP  := $(VENV)/.installed
export PYTHONDONTWRITEBYTECODE = 1
PYTEST = $(PYTHON) -m pytest

.PHONY: setup run test test-long format lint templates check check-deploy migrations types \
        test-sqlite test-postgresql test-browser reformat lock clean

setup: $(STAMP)

$(STAMP): requirements-dev.txt
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Milepost needs Python 3.11 or newer; python3 here is $$(python3 --version 2>&1)." >&2; exit 1; }
	@test -x $(PYTHON) || python3 -m venv $(VENV) \
	  || { echo "python3 cannot make a virtual environment; on Debian: apt-get install python3-venv." >&2; exit 1; }
	@echo "Installing what requirements-dev.txt names into $(VENV) ..."
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements-dev.txt
	@touch $@

# make run INBOX=path/to/mail PORT=8000 HOST=127.0.0.1
run: setup
	@exec $(PYTHON) manage.py up $(if $(INBOX),--inbox "$(INBOX)")

# Everything, in order of speed; each can be run alone by its name. JOBS at the same time: first what only
# reads the code, then the legs of the suite, which wait more than they compute and label their lines.
JOBS   ?= 2
STATIC = types format lint templates check check-deploy migrations
LEGS   = test-sqlite test-postgresql test-browser

test: setup
	@$(MAKE) --no-print-directory -j$(JOBS) $(STATIC)
	@$(MAKE) --no-print-directory -j$(JOBS) LABELLED=1 $(LEGS)
	@echo "All checks passed."

test-long:
	@$(MAKE) --no-print-directory test MILEPOST_LONG=1

format: setup
	@$(VENV)/bin/ruff format --check --quiet . || { $(VENV)/bin/ruff format --diff --quiet .; exit 1; }

lint: setup
	@$(VENV)/bin/ruff check --quiet .

templates: setup
	@git ls-files -z --cached --others --exclude-standard '*.html' | xargs -0 -r $(VENV)/bin/djade --target-version 5.2 --check

# Settings that touch nothing on this machine: a key for once, a database in memory.
BARE = SECRET_KEY=$$(head -c 60 /dev/urandom | base64 | tr -d '\n') DATABASE_URL=sqlite://:memory:

check: setup
	@$(BARE) $(PYTHON) manage.py check

check-deploy: setup
	@$(BARE) BEHIND_TLS=1 ALLOWED_HOSTS=milepost.example $(PYTHON) manage.py check --deploy --tag security --fail-level WARNING

migrations: setup
	@$(BARE) $(PYTHON) manage.py makemigrations --check --dry-run

types: setup
	@$(BARE) $(VENV)/bin/mypy .

NOT_LONG = $(if $(MILEPOST_LONG),,and not long)
LABEL    = $(if $(LABELLED),LABEL=$(@:test-%=[%]))

test-sqlite: setup
	@$(LABEL) TEST_DATABASE=sqlite $(PYTEST) -m "not browser $(NOT_LONG)" $(ARGS)

test-postgresql: setup
	@$(LABEL) TEST_DATABASE=postgresql $(PYTEST) -m "not browser and not one_database $(NOT_LONG)" $(ARGS)

test-browser: setup
	@$(LABEL) TEST_DATABASE=sqlite $(PYTEST) -m "browser $(NOT_LONG)" $(ARGS)

reformat: setup
	@$(VENV)/bin/ruff check --fix --quiet . ; $(VENV)/bin/ruff format --quiet .
	@git ls-files -z --cached --others --exclude-standard '*.html' | xargs -0 -r $(VENV)/bin/djade --target-version 5.2

# Writes both locks again from pyproject.toml; they name no index, so any will do.
COMPILE = $(VENV)/bin/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe --no-header \
          --no-emit-index-url --no-emit-trusted-host --no-emit-options --pip-args "--only-binary :all:"
lock: setup
	@$(COMPILE) --output-file requirements.txt pyproject.toml
	@$(COMPILE) --extra dev --constraint requirements.txt --output-file requirements-dev.txt pyproject.toml

clean:
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache htmlcov .coverage
