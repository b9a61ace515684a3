"""How a page is run to see whether it works: measured briefly, and nobody's own files touched.

Grading, tests and rehearsals ask whether exercises are right and cells run, not how long anything
takes. What is checked and counted stays as it is; what is timed is rough, and says so.
"""

import os

from gpulessons.hardware import budget
from gpulessons.hardware import kept as ceilings
from gpulessons.notebook.controls import kept as predictions

# For the environment of the kernel that runs it.
BRIEFLY = {budget.NAME: "0.02", ceilings.NAME: os.devnull, predictions.NAME: os.devnull}
