# Each command sets up what it needs. Python 3.11 or newer, make and git are all it asks for.
PYTHON ?= python3
OUT ?= gpu-report
ARGS ?=
COLAB ?= python3.13 python3.12 $(PYTHON)
NEWEST ?= $(PYTHON)
GOAL ?= $(MAKECMDGOALS)

VENV := .venv
PY := $(VENV)/bin/python
PIP = $(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt
LAB := $(VENV)/.lab
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help lab test test-all notebooks disturbed bench machines judge nvidia gpu colab newest offline site lite clean

help:  ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-18s%s\n", $$1, $$2}'

lab: $(LAB)  ## open your copy of the notebooks in JupyterLab (without a screen: print the address)
	@$(VENV)/bin/gpulessons lab $(ARGS)

test: $(READY)  ## run what CI runs: ruff, mypy, and the tests of what a change may break
	@$(PY) tools/run_tests.py

test-all: $(READY)  ## run every test: the nightly matrices and families, too
	@$(PY) tools/run_tests.py --all

notebooks: $(READY)  ## run every notebook top to bottom and save it canonically (ARGS="02_activations")
	@$(PY) tools/save_notebooks.py $(ARGS)

offline: $(READY)  ## gather wheels and notebooks in offline-kit, to install with no network (ARGS="--system windows --python 3.13")
	@$(PY) tools/offline.py $(ARGS)

site: $(READY)  ## make a website of every page in build/site, with build/lite if it is there (ARGS=--links: list what it links to)
	@$(PY) tools/website.py $(ARGS)

lite: $(READY)  ## build the course for a browser, with no server behind it, in build/lite
	@$(PIP) -e '.[lite]'
	@$(PY) tools/lite.py $(ARGS)

disturbed: $(READY)  ## run every notebook under everything that may befall it: two hours (ARGS="-k 02_activations")
	@GPULESSONS_EVERY_DISTURBANCE=1 $(PY) -m pytest -q -n logical tests/test_disturbed_pages.py $(ARGS)

bench: $(READY)  ## measure the course's target ratios on this machine (ARGS="--json FILE name …")
	@$(PY) benchmarks/ratios.py $(ARGS)

machines: $(READY)  ## measure this CPU's target ratios, also held to AVX2, and keep them for docs/machines.md (ARGS="matmul …")
	@$(PY) benchmarks/machines.py $(ARGS)

nvidia: $(READY)  ## run NVIDIA's own Numba-CUDA tests under the microscope (ARGS="--json FILE test_math …")
	@$(PY) benchmarks/numba_cuda_tests.py $(ARGS)

judge: $(READY)  ## model every kernel of which a published time is at hand, and say how far off the model is
	@$(PY) benchmarks/judge.py

# No network and no environment of ours: a GPU machine's own Python serves (PYTHON=… OUT=…).
gpu:  ## on a machine with a GPU: check, measure and record every GPU version into OUT
	@PYTHONPATH="$(CURDIR)$${PYTHONPATH:+:$$PYTHONPATH}" $(PYTHON) benchmarks/gpu.py --out "$(OUT)"

colab: .venv-colab/.ready  ## run every notebook with Colab's versions, in an environment of their own (ARGS="02_activations")
	@.venv-colab/bin/python tools/run_elsewhere.py $(ARGS)

newest:  ## run every notebook with the newest of everything (NEWEST=python3.14, ARGS="02_activations")
	@$(NEWEST) -c 'import venv' || { echo "'$(NEWEST)' does not run here: name another, make newest NEWEST=python3.13"; exit 1; }
	@echo "Setting up .venv-newest anew: some minutes and gigabytes."
	@$(NEWEST) -m venv --clear .venv-newest
	@.venv-newest/bin/python -m pip install --quiet --upgrade pip
	@.venv-newest/bin/python tools/wanted.py | .venv-newest/bin/python -m pip install --quiet --upgrade -r /dev/stdin
	@.venv-newest/bin/python tools/run_elsewhere.py $(ARGS)

clean:  ## remove the environment and everything else that can be made again
	rm -rf $(VENV) .venv-colab .venv-newest build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Colab has one Python, of late 3.13; here the nearest that runs. CUDA 12.8 comes with PyTorch: 8 GB.
.venv-colab/.ready: tools/colab.txt
	@for python in $(COLAB); do $$python -c 'import venv' 2>/dev/null && break; done; \
	  $$python -c 'import venv, sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || { \
	    echo "None of $(COLAB) runs here: name a Python of 3.11 to 3.13, make colab COLAB=…"; exit 1; }; \
	  echo "Setting up .venv-colab with $$($$python -V): some minutes, and 8 GB, most of it CUDA."; \
	  $$python -m venv --clear .venv-colab
	@.venv-colab/bin/python -m pip install --quiet --disable-pip-version-check -r tools/colab.txt
	@touch $@

# What a learner needs. On Linux without an NVIDIA driver that is PyTorch for the CPU, a tenth of the
# size; where its index cannot be reached, pip's own PyTorch follows.
$(LAB): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { \
	  echo "There is no '$(PYTHON)' here. Install Python 3.11 or newer, or name yours: make $(GOAL) PYTHON=…"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "The course needs Python 3.11 or newer and '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Name a newer one: make $(GOAL) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot make environments. Install its venv module first (Debian, Ubuntu: sudo apt install python3-venv)."; exit 1; }
	@echo "Setting up $(VENV): two to six minutes, most of them PyTorch's."
	@$(PYTHON) -m venv $(VENV)
	@if [ "$$(uname -s)" = Linux ] && ! command -v nvidia-smi >/dev/null && ! $(PY) -c 'import torch' 2>/dev/null; then \
	  echo "  PyTorch for the CPU, since no NVIDIA driver is here …"; \
	  $(PIP) --no-deps --retries 0 --index-url https://download.pytorch.org/whl/cpu torch 2>/dev/null || true; fi
	@echo "  the course, JupyterLab and NVIDIA's compiler …"
	@$(PIP) -e '.[lab,gpu]'
	@touch $@

# What the tests need as well.
$(READY): pyproject.toml constraints.txt
	@$(MAKE) --no-print-directory $(LAB) GOAL="$(MAKECMDGOALS)"
	@echo "  what the tests need …"
	@$(PIP) -e '.[test]'
	@touch $@
