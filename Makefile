# Ebb: two commands do the set-up, `make demo` and `make test`. Everything else is for daily work.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
EBB    := $(BIN)/python -m functions.cli.main
PIP    := $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off

.DEFAULT_GOAL := help
.PHONY: help demo test deep quick check lint unit faults real assets soak acceptance bench fuzz mutants fmt requirements audit schema pages pictures monitoring zip dist clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Checked only before anything is installed: later the environment has its own Python.
define NEEDS_PYTHON
@is=$$($(PYTHON) --version 2>&1) || is="not there"; \
  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
  echo "Ebb needs Python 3.11 or newer, and $(PYTHON) is $$is: name another with PYTHON=python3.12 or the like." >&2; exit 1; }
endef

$(VENV)/.cli: requirements.txt pyproject.toml
	$(NEEDS_PYTHON)
	@echo "Installing what Ebb needs into $(VENV), once; this may take some minutes."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --require-hashes -r requirements.txt
	@$(PIP) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.cli
	@echo "Installing what the tests need into $(VENV), once."
	@$(PIP) -e '.[dev]'
	@touch $@

demo: $(VENV)/.cli ## Watch the whole loop on a simulated GKE on this machine (Python 3.11 or newer only, about a minute)
	@$(EBB) demo

test: $(VENV)/.dev ## Run every kind of test, the same cases each time: about 12 minutes on two cores
	@$(BIN)/python -m tests.parts

deep: $(VENV)/.dev ## Run all tests with new seeds (EBB_SEED= repeats them): about an hour on two cores
	@EBB_DEEP=1 $(BIN)/python -m tests.parts

quick: $(VENV)/.dev ## Run the tests of the core and the functions, in under a minute
check: $(VENV)/.dev ## Run lint, the check of words, types and the import contracts
unit: $(VENV)/.dev ## Run unit, property, contract and whole-loop tests, and those on Google's emulators
faults: $(VENV)/.dev ## Run histories of injected faults, and Ebb broken on purpose
real: $(VENV)/.dev ## Run the tests on a real Kubernetes control plane, and the demo
quick check unit faults real:
	@$(BIN)/python -m tests.parts $@

lint: $(VENV)/.dev ## Run ruff, and the check of words and sentences
	@$(BIN)/ruff check --no-cache . && $(BIN)/ruff format --check . && $(BIN)/python -m tests.words

assets: $(VENV)/.dev ## Build Kubernetes and what else real tests need into the cache, once: about eight minutes
	@$(BIN)/python -m tests.assets

soak: $(VENV)/.dev ## Inject faults into histories with new seeds, until Ctrl-C
	@$(BIN)/python -m tests.faults.rerun

acceptance: $(VENV)/.dev ## Print which rows of docs/acceptance.md have a passing test
	$(BIN)/pytest -q -n 2 --dist loadfile --acceptance

bench: $(VENV)/.dev ## Print the benchmarks' ratios (QUICK=1: small ones, BENCHES=…: some)
	$(BIN)/python -m tests.bench $(if $(QUICK),--quick) $(BENCHES)

fuzz: $(VENV)/.dev ## Feed the readers a million almost valid inputs
	$(BIN)/python -m tests.fuzz

mutants: $(VENV)/.dev ## Make small mistakes in the code, and show those that no test finds (IN=rules/nodes SHARE=1: all of a module; TESTS: by some)
	$(BIN)/python -m tests.mutation --share $(or $(SHARE),0.02) --seed $(or $(SEED),0) --jobs $(or $(JOBS),2) $(TESTS:%=--tests %) $(IN)

fmt: $(VENV)/.dev ## Format the code and fix what ruff can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

requirements: $(VENV)/.dev ## Compile requirements.txt from requirements.in, with hashes
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header requirements.in -o requirements.txt

audit: $(VENV)/.dev ## Check requirements.txt for known vulnerabilities on PyPI (needs the network)
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/pip-audit --strict --disable-pip --require-hashes -r requirements.txt

schema: $(VENV)/.dev ## Write infra/policy.schema.json and the tables of docs/policy.md from the policy's fields
	$(BIN)/python -m tests.docs.policy_schema > infra/policy.schema.json
	@$(BIN)/python -m tests.docs.written

pages: $(VENV)/.dev ## Write the parts of README, docs/ and terraform/README.md that come from the code
	@$(BIN)/python -m tests.docs.written

pictures: $(VENV)/.dev ## Draw docs/pictures of generated clusters, and record the demo (the report's need Chromium, or Debian's apt)
	@$(BIN)/python -m tests.docs.recording
	@$(BIN)/python -m tests.browser.pictures

monitoring: $(VENV)/.dev ## Write the tables of docs/events.md and the runbook from infra/metrics.yaml and infra/alerts.yaml
	@$(BIN)/python -m infra.monitoring

zip: $(VENV)/.cli ## Pack the functions' archive into build/, for a release or functions.archive
	@$(BIN)/python -m infra.archive

dist: $(VENV)/.cli ## Build what a release has into build/dist: the wheel, and the functions' archive
	@rm -rf build/lib build/dist
	@$(BIN)/python -m pip wheel --disable-pip-version-check --quiet --no-deps --wheel-dir build/dist .
	@$(BIN)/python -m infra.archive && cp build/ebb-functions.zip build/dist/

clean: ## Remove the environment and caches
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
