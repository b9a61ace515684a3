"""What every test runs under: no window for pictures, hypothesis without a clock, a live Ctrl-C."""

import os
import signal

from hypothesis import settings

os.environ["MPLBACKEND"] = "Agg"

# A shell's job in the background is deaf to Ctrl-C, and all that it starts: tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Compiling a kernel takes longer than any deadline. "ci" draws the same examples on every run.
settings.register_profile("explore", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "explore"))
