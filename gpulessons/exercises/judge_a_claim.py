"""Judge a claim about GPUs: which figures may decide, and what may be said of them?"""

from gpulessons.exercises.asking import a_function

text = '''\
def my_verdict(figures):
    """"holds", "holds with limits", "refuted" or "not testable here": is our GPU faster?

    figures: a list of (seconds on a CPU, seconds on a GPU, kind), one for each network; kind is
    "live", "recorded", "published" or "modelled", and only what was measured on ours decides.
    """
    ### BEGIN SOLUTION
    faster = [gpu < cpu for cpu, gpu, kind in figures if kind in ("live", "recorded")]
    if not faster:
        return "not testable here"
    if all(faster):
        return "holds"
    return "holds with limits" if any(faster) else "refuted"
    ### STUB
    faster = [gpu < cpu for cpu, gpu, kind in figures]
    return "holds" if all(faster) else "refuted"  # Your turn: and the other two?
    ### END SOLUTION
'''

FASTER, SLOWER = (8.0, 2.0), (2.0, 3.0)  # seconds on a CPU and on a GPU
CASES = (
    ([(*FASTER, "live"), (*FASTER, "live")],),
    ([(*FASTER, "live"), (*SLOWER, "live")],),
    ([(*SLOWER, "live"), (*FASTER, "live")],),
    ([(*SLOWER, "live"), (5.0, 5.0, "live")],),  # none is faster, for a tie is not
    ([],),
    ([(*FASTER, "recorded")],),
    ([(*SLOWER, "published")],),
    ([(*FASTER, "live"), (*SLOWER, "modelled")],),
)
mistakes = (
    ("A published figure is of another machine, a modelled one of none: they stand beside.",
     ' if kind in ("live", "recorded")', ""),
    ("A recording from a named machine is a measurement, and may decide.",
     'kind in ("live", "recorded")', 'kind == "live"'),
    ("Without a figure nothing is known, not even that it is wrong.",
     "if not faster", "if False"),
)  # fmt: skip

exercise = a_function(
    __name__, text, CASES, "the docstring's four words.",
    "8 cases, each with the word that its figures allow.", mistakes,
)
