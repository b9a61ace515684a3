"""What every test runs under: no window for pictures, no deadlines, and ears for Ctrl-C."""

import os
import signal

from hypothesis import settings

from gpulessons import budget

os.environ["MPLBACKEND"] = "Agg"
os.environ.pop(budget.NAME, None)  # a test that wants measurements short says so itself

# Compiling a kernel takes longer than any deadline. "ci" draws the same examples on every run.
settings.register_profile("explore", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "explore"))


def pytest_runtest_setup():
    """A shell's `&` makes what it starts deaf to Ctrl-C, and so would be all that a test starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
