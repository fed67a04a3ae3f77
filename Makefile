# On a machine with Python 3.11 or newer every target installs what it needs into .venv, once.

PYTHON ?= python3
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
PINS := constraints.txt
export UV_SYSTEM_CERTS := 1
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check -c $(PINS)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check format api gallery figures docs docs-serve bench dist test-dist pins clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1 \2/p' Makefile | while read -r target does; do printf '  make %-10s %s\n' "$$target" "$$does"; done

demo: $(VENV)/.demo ## learn from real sensors with real outliers (ARGS="--to FOLDER")
	@$(BIN)/holdfast demo $(ARGS)

test: $(VENV)/.everything ## run tests, doctests and printed examples (ARGS="-k topk -x"; -m slow for the slow ones)
	@$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

# Not used any more after a change in what it was made of; `holdfast doctor` says so.
.PHONY: prebuilt
prebuilt: $(VENV)/.everything ## compile the default games into this checkout, a minute or two: tests of estimators are then quicker
	@$(BIN)/python -m holdfast._compiled.prebuild src/holdfast/_prebuilt numbers labels numbers_in_time

# A sample of the laws and of what compares Python with compiled code: two minutes of CPU time.
PUBLIC_NUMBA := tests/test_laws.py tests/test_vectors.py tests/test_sparse_vectors.py tests/learners/test_sparse.py \
	-k "both_worlds or compiled_they and (OGD or Diagonal)"
.PHONY: test-public-numba
test-public-numba: $(VENV)/.everything # these once more, compiled through numba's public API only
	@HOLDFAST_PUBLIC_NUMBA=1 $(BIN)/python -m pytest -n auto --dist worksteal $(PUBLIC_NUMBA) $(ARGS)
	@HOLDFAST_PUBLIC_NUMBA=1 $(BIN)/python -m pytest -m "slow or exhaustive" tests/test_laws.py -k "games_agree and Guarded and AdaGrad" $(ARGS)

# Packages of a gigabyte that few users have. pip brings the torch that its index offers; uv would add CUDA.
.PHONY: test-all
test-all: $(VENV)/.heavy ## also install torch, jax, Lightning, PySpark ..., and run what needs them
	@$(BIN)/python -m pytest -n auto --dist worksteal tests/torch_guard tests/optax_guarded tests/lab/training \
		src/holdfast/torch src/holdfast/optax.py src/holdfast/filters/fixed_memory.py docs/torch.md docs/solved-training.md \
		tests/lab/gauntlet/test_rules.py tests/lab/gauntlet/test_real_rules.py \
		"tests/test_gallery.py::test_the_page_has_what_the_script_prints_and_draws[training_loop]" $(ARGS)
	@$(BIN)/python -m pytest -n auto --dist worksteal tests/spark src/holdfast/spark $(ARGS) # Spark forks, JAX forbids it

check: $(VENV)/.everything ## style, types, the direction of imports, and the repository
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/repo-review . --show err

format: $(VENV)/.everything ## let ruff fix what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

api: $(VENV)/.everything ## write the API reference, docs/api/, from the docstrings
	@$(BIN)/python tools/api_reference.py

gallery: $(VENV)/.everything ## run the examples, and write docs/gallery/ from them (ARGS="own_filter")
	@$(BIN)/python tools/gallery.py $(ARGS)

figures: $(VENV)/.everything ## draw the figures of docs/why-a-filter.md
	@$(BIN)/python tools/figures.py

docs: $(VENV)/.everything ## build the site, build/site; it needs no network
	@$(BIN)/python tools/site_builder.py

docs-serve: docs ## show the site at http://127.0.0.1:8000
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site 8000

bench: $(VENV)/.bench ## measure speed on this machine, beside its peers (ARGS=--quick)
	@$(BIN)/holdfast bench $(ARGS)

# On Linux, zig links for glibc 2.17, and auditwheel checks that it did and renames the wheel. The wheel is built
# from the sdist.
ZIG := $(CURDIR)/$(BIN)/python -m ziglang cc -target $(shell uname -m)-linux-gnu.2.17
dist: $(VENV)/.dist ## build sdist and wheel, in dist/ (ten minutes if the machine is busy)
	@rm -rf dist build/wheel
	@if [ "$$(uname -s)" = Linux ]; then \
		HOLDFAST_PREBUILD=all CC="$(ZIG)" $(BIN)/uv build -b $(PINS) --out-dir build/wheel && mkdir dist && mv build/wheel/*.tar.gz dist && \
		PATH="$(BIN):$$PATH" $(BIN)/auditwheel repair --plat manylinux_2_17_$$(uname -m) -w dist build/wheel/*.whl; \
	else $(BIN)/uv build -b $(PINS) --out-dir dist; fi

# Each is installed into environments of its own, outside of the checkout; the tests are those of the sdist.
test-dist: dist ## install sdist and wheel into empty environments, and test them there (PYTHONS="python3.12 ...")
	@PYTHONS="$(PYTHONS)" $(BIN)/python tools/dist_trial.py dist $(PINS)

pins: $(VENV)/.everything ## resolve all dependencies again and write them to constraints.txt
	printf 'uv\nhatchling\ntorch==2.13.0\njax==0.10.2\n' | $(BIN)/uv pip compile pyproject.toml lab/pyproject.toml - --all-extras --universal --upgrade \
		--python-version 3.11 --no-emit-package holdfast --no-annotate --no-header --quiet --output-file $(PINS)
	sed -i -E '/^(cuda-|nvidia-|triton)/d' $(PINS)

clean: ## remove .venv and everything else these targets made
	rm -rf $(VENV) build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

# What is installed is stamped, and stays until the list of dependencies changes.

define install
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "holdfast needs Python 3.11 or newer, and $(PYTHON) is not that: try make PYTHON=python3.12" >&2; exit 1; }
	@echo "installing into $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@export HOLDFAST_PREBUILD=0; { $(PIP) uv && $(BIN)/uv pip install -q --compile-bytecode --python $(BIN)/python -c $(PINS) -b $(PINS) -e '.[$(EXTRAS)]' $(LAB); } \
		|| { echo "uv could not, so pip will ..." >&2; $(PIP) -e '.[$(EXTRAS)]' $(LAB); }
endef

$(VENV)/.demo: EXTRAS := compile,plot,cli
$(VENV)/.demo: pyproject.toml $(PINS)
	$(install)
	@touch $@

$(VENV)/.everything: EXTRAS := cli,plot,pandas,solve,test,check,docs
$(VENV)/.everything: LAB := -e ./lab
$(VENV)/.everything: pyproject.toml lab/pyproject.toml $(PINS)
	$(install)
	@touch $(VENV)/.demo $@

$(VENV)/.dist: $(VENV)/.everything
	@$(PIP) -e '.[dist]'
	@touch $@

$(VENV)/.heavy: $(VENV)/.everything
	@$(PIP) -e '.[torch,optax,spark]'
	@$(PIP) -e '.[heavy]' || echo "no Lightning or Transformers to be had: their tests are skipped"
	@$(PIP) --no-deps zclip==1.0.0 pytorch-optimizer==4.1.0 || echo "no ZClip or AdaGC to be had: their tests are skipped"
	@touch $@

$(VENV)/.bench: EXTRAS := compile,plot,cli
$(VENV)/.bench: LAB := -e './lab[bench]'
$(VENV)/.bench: pyproject.toml lab/pyproject.toml $(PINS)
	$(install)
	@touch $@
