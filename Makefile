# Set-up, demo, tests and benchmarks, each in a virtual environment inside the checkout.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check -qq
LINTED := sklearn_subanneal tests benchmarks examples doc/conf.py setup.py .ci/*.py
QUICK ?=
# Processes that share the tests; "auto": one for each core.
WORKERS ?= auto
# Hostile cases: how many, and the number of the first.
CASES ?= 1000
FIRST ?= 0
# Kills of each estimator.
KILLS ?= 100
PYTEST := $(BIN)/pytest -q -n $(WORKERS) --dist worksteal

SOURCES := setup.py pyproject.toml MANIFEST.in README.md LICENSE \
	$(shell find sklearn_subanneal -name '*.py' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.h' -o -name '*.cpp' -o -name '*.csv' -o -name '*.css' -o -name '*.html' -o -name '*.js')
# All scripts of benchmarks/ but demo.py and make_figures.py, which have targets of their own.
BENCHMARKS := row_kernel gaussian_mixture covariance_choice scoring scaling kdd census_like strategies against_lace \
	crosscat_agreement crosscat_default crosscat_planted crosscat_families crosscat_hospitals crosscat_imputation \
	crosscat_kdd crosscat_strategies stratified_kdd effort exchange_barrier \
	missing_cells multiple_imputation anomaly_detection report_truth drift_level \
	unseen_tables unseen_densities unseen_predictions unseen_anomalies \
	nrmm_samplers nrmm_bias nrmm_exactness nrmm_kernel nrmm_annealing nrmm_density nrmm_documents nrmm_moves nrmm_trees \
	lda_e_step lda_completion lda_topics lda_inference lda_planted lda_temperatures \
	lda_latent_temperatures lda_stream lda_workers fmm_components fmm_toy fmm_faces \
	two_urn mixing_time energy_barrier two_gaussians \
	merged_components cluster_stability \
	shards shards_crosscat shards_dask shards_plan shards_threads streams view_streams \
	gp_convergence gp_regression tempering_figures tempering_guided tempering_subsets tempered_mixtures two_modes

.DEFAULT_GOAL := help
.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: help venv build demo test test-all fuzz fuzz-files kills leaks sanitize bugs lint format bench figures doc clean

help: ## list the targets
	@echo "usage: make [PYTHON=python3] TARGET"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null \
		|| sed -n 's/^\([a-z-]*\):.*## /  \1: /p' $(MAKEFILE_LIST)

venv: $(VENV)/.created ## create the virtual environment

build: $(VENV)/.package ## compile the package and install it into the environment

demo: $(VENV)/.demo ## learn planted tables by three strategies; figure in output/
	@$(BIN)/python benchmarks/demo.py

test: $(VENV)/.test ## the quick tests, on the installed package (WORKERS=auto)
	@$(PYTEST)

test-all: $(VENV)/.test ## every test
	@$(PYTEST) -m "slow or not slow"

fuzz: $(VENV)/.test ## hostile tables and arguments, each case in a process with limits (CASES=1000 FIRST=0)
	@$(BIN)/python tests/fuzz/fuzz_campaign.py --cases $(CASES) --first $(FIRST)

kills: $(VENV)/.test ## fits killed at random moments must resume to the same bits (KILLS=100 of each estimator)
	@$(BIN)/python tests/process/kill_campaign.py --kills $(KILLS)

fuzz-files: $(VENV)/.test ## changed files of models and tables, in processes with limits (CASES=1000 FIRST=0)
	@$(BIN)/python tests/fuzz/file_campaign.py model --cases $(CASES) --first $(FIRST)
	@$(BIN)/python tests/fuzz/file_campaign.py table --cases $(CASES) --first $(FIRST)

leaks: $(VENV)/.test ## growth of memory by 200 fits and predictions of each estimator
	@$(BIN)/python tests/process/leaks.py

sanitize: $(VENV)/.test ## kernels and hostile cases under AddressSanitizer, UBSan and Cython's bounds checks (CASES=250)
	@$(BIN)/python tests/sanitizers/sanitize.py $(if $(filter command line,$(origin CASES)),--cases $(CASES))

bugs: $(VENV)/.test ## plant the bugs of tests/bugs one by one; the tests that it names must catch each
	@$(BIN)/python tests/bugs/run.py --jobs 2

lint: $(VENV)/.lint ## ruff and cython-lint
	@$(BIN)/ruff check --quiet $(LINTED)
	@$(BIN)/ruff format --check --quiet $(LINTED) || { echo "run: make format"; exit 1; }
	@PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint sklearn_subanneal
	@echo "lint: clean"

format: $(VENV)/.lint ## format the Python files by ruff
	@$(BIN)/ruff check --quiet --select I --fix $(LINTED)
	@$(BIN)/ruff format --quiet $(LINTED)

bench: $(VENV)/.test ## all benchmarks, JSON in output/benchmarks/ (QUICK=--quick for a trial)
	@mkdir -p output/benchmarks
	@for name in $(BENCHMARKS); do echo "$$name"; \
		$(BIN)/python benchmarks/$$name.py $(QUICK) > output/benchmarks/$$name.json.part \
			&& mv output/benchmarks/$$name.json.part output/benchmarks/$$name.json || exit 1; done

figures: $(VENV)/.test ## every figure of the papers, output/figures/index.html (QUICK=--quick for a trial)
	@$(BIN)/python benchmarks/make_figures.py $(QUICK)

doc: $(VENV)/.doc ## the documentation as HTML in output/doc/, with the examples run
	@$(BIN)/sphinx-build -q -W --keep-going -b html doc output/doc
	@echo "output/doc/index.html"

clean: ## remove all generated files
	@rm -rf $(VENV) build dist output doc/auto_examples doc/generated *.egg-info .pytest_cache .ruff_cache
	@find sklearn_subanneal tests benchmarks examples doc -name __pycache__ -prune -exec rm -rf {} +
	@find sklearn_subanneal -name '*.so' -delete

$(VENV)/.created: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; name one by PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sysconfig, os; os.stat(os.path.join(sysconfig.get_path("include"), "Python.h"))' 2>/dev/null \
		|| { echo "The headers of Python are missing; on Debian: apt install python3-dev"; exit 1; }
	@echo "Making the environment $(VENV)"
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) \
		|| { rm -rf $(VENV); echo "venv failed; on Debian: apt install python3-venv"; exit 1; }
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
		> $(VENV)/build-requirements.txt
	@$(PIP) install -r $(VENV)/build-requirements.txt
	@touch $@

# A module that is gone from the sources must not live on in the next wheel. Compiled modules whose source exists are kept,
# and compiled again only if it is newer. They are compiled before pip is called, which would hide how far that is.
define install
	@echo "Compiling and installing $(strip $(1)) (the first time: a few minutes)"
	@find build -path 'build/lib*' -type f ! -name '*.so' -delete 2>/dev/null || true
	@find build -path 'build/lib*' -name '*.so' 2>/dev/null | while read -r built; do \
		module=$${built#build/lib*/}; module=$${module%%.*}; \
		test -f "$$module.pyx" || test "$${module##*/}" = _cyutility || rm -f "$$built"; done
	@$(BIN)/python setup.py --quiet build_ext 2> $(VENV)/compile.log || { cat $(VENV)/compile.log; exit 1; }
	@echo "Installing the package and what it needs"
	@$(PIP) install --no-build-isolation '$(strip $(1))'
	@touch $@
endef

$(VENV)/.package: $(VENV)/.created $(SOURCES)
	$(call install, .)

$(VENV)/.demo: $(VENV)/.created $(SOURCES)
	$(call install, .[plot])

$(VENV)/.test: $(VENV)/.created $(SOURCES)
	$(call install, .[test])

$(VENV)/.doc: $(VENV)/.created $(SOURCES)
	$(call install, .[doc])

$(VENV)/.lint: $(VENV)/.created
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["lint"], sep="\n")' \
		> $(VENV)/lint-requirements.txt
	@$(PIP) install -r $(VENV)/lint-requirements.txt
	@touch $@
