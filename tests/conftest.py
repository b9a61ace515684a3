"""What every test runs under: no window for pictures, and hypothesis without a clock."""

import os

from hypothesis import settings

os.environ["MPLBACKEND"] = "Agg"

# Compiling a kernel takes longer than any deadline. "ci" draws the same examples on every run.
settings.register_profile("explore", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "explore"))
