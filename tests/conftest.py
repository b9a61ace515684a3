"""What every test runs under: no window for pictures, no deadlines, and ears for Ctrl-C."""

import os
import signal

import pytest
from hypothesis import settings

from gpulessons.claims import kept as found
from gpulessons.hardware import budget
from gpulessons.hardware import kept as measured
from gpulessons.notebook.controls import kept
from warplens import tracing
from warplens.code.cuda import ELSEWHERE

os.environ["MPLBACKEND"] = "Agg"
os.environ.pop(budget.NAME, None)  # a test that wants measurements short says so itself
os.environ[kept.NAME] = os.devnull  # whoever runs the tests has predictions of their own
os.environ[found.NAME] = os.devnull  # and what pages found on this machine
os.environ[measured.NAME] = os.devnull  # and what a test measures beside others is no ceiling
# Threads that wait give their core away at once: it has other tests to run, and whole notebooks.
os.environ |= {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0", "OPENBLAS_THREAD_TIMEOUT": "4"}

# Compiling a kernel takes longer than any deadline. "ci" draws the same examples on every run.
settings.register_profile("explore", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "explore"))


LONGEST_FIRST = (
    "::test_it_runs_", "tests/workers/", "tests/test_browser.py",
    "tests/ops/test_kernels.py", "tests/ops/test_versions.py", "tests/measure/",
)  # fmt: skip


def pytest_collection_modifyitems(items):
    """What takes long goes first: at the end of a run no core waits for another."""

    def turn(item):
        return next((n for n, words in enumerate(LONGEST_FIRST) if words in item.nodeid), 99)

    items.sort(key=turn)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Side by side a file's tests stay together, for they share what they have made once.

    Except the notebooks, which share nothing: each goes where there is room.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return nodeid if LONGEST_FIRST[0] in nodeid else super()._split_scope(nodeid)

    return Scheduling(config, log) if config.option.dist == "loadfile" else None


def pytest_runtest_setup():
    """A shell's `&` makes what it starts deaf to Ctrl-C, and so would be all that a test starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def launches_of():
    """Tells what a CUDA version launches, at a usual size and in an edge case: they may differ."""

    def traced(version):
        traces = []
        for size in (version.op.sizes[0], version.op.edge_cases[1]):
            with tracing(ELSEWHERE) as launches:
                version(*map(version.backend.put, version.op.inputs(size)))
            traces += launches
        return traces

    return traced
