# Each command sets up what it needs. Python 3.11 or newer, make and git are all it asks for.
PYTHON ?= python3
OUT ?= gpu-report
ARGS ?=

VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help lab test notebooks lite bench nvidia gpu clean

help:  ## list these commands
	@sed -n 's/^\([a-z]*\):.*## /  make \1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-18s%s\n", $$1, $$2}'

lab: $(READY)  ## open your copy of the notebooks in JupyterLab (without a screen: print the address)
	@$(VENV)/bin/gpulessons lab $(ARGS)

test: $(READY)  ## run everything that CI runs: ruff, mypy, then every test
	@$(PY) tools/run_tests.py

notebooks: $(READY)  ## run every notebook top to bottom and save it canonically (ARGS="02_activations")
	@$(PY) tools/save_notebooks.py $(ARGS)

lite: $(READY)  ## build the course for a browser, with no server behind it, into lite/
	@$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[lite]'
	@$(PY) tools/lite.py $(ARGS)

bench: $(READY)  ## measure the course's target ratios on this machine (ARGS="--json FILE name …")
	@$(PY) benchmarks/ratios.py $(ARGS)

nvidia: $(READY)  ## run NVIDIA's own Numba-CUDA tests under the microscope (ARGS="--json FILE test_math …")
	@$(PY) benchmarks/numba_cuda_tests.py $(ARGS)

# No network and no environment of ours: a GPU machine's own Python serves (PYTHON=… OUT=…).
gpu:  ## on a machine with a GPU: check, measure and record every GPU version into OUT
	@PYTHONPATH="$(CURDIR)$${PYTHONPATH:+:$$PYTHONPATH}" $(PYTHON) benchmarks/gpu.py --out "$(OUT)"

clean:  ## remove the environment and everything else that can be made again
	rm -rf $(VENV) build dist lite .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment for everything: what the tests add to the lab is small beside PyTorch.
$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { \
	  echo "There is no '$(PYTHON)' here. Install Python 3.11 or newer, or name yours: make $(MAKECMDGOALS) PYTHON=…"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "The course needs Python 3.11 or newer and '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Name a newer one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot make environments. Install its venv module first (Debian, Ubuntu: sudo apt install python3-venv)."; exit 1; }
	@echo "Setting up $(VENV): a minute or more, and some gigabytes, most of it PyTorch."
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@
