"""Judge a claim about GPUs: which figures may decide, and what may be said of them?"""

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Trouble

FASTER, SLOWER = (8.0, 2.0), (2.0, 3.0)  # seconds on a CPU and on a GPU
WORDS = ("holds", "holds with limits", "refuted", "not testable here")

# Figures, the word that they allow, and what another word says about the judge.
CASES = (
    ([(*FASTER, "live"), (*FASTER, "live")], "holds",
     "both networks are faster on the GPU, and you measured both."),
    ([(*FASTER, "live"), (*SLOWER, "live")], "holds with limits",
     "one network is faster, another is not: it is true of some."),
    ([(*SLOWER, "live"), (*FASTER, "live")], "holds with limits",
     "one is not faster and the next one is: the order of the figures says nothing."),
    ([(*SLOWER, "live"), (*SLOWER, "live")], "refuted",
     "none is faster, and you measured them all."),
    ([(5.0, 5.0, "live")], "refuted", "a tie is not faster."),
    ([], "not testable here", "without a figure nothing is known, not even that it is wrong."),
    ([(*FASTER, "recorded")], "holds",
     "a recording from a named machine is a measurement, and may decide."),
    ([(*FASTER, "published")], "not testable here",
     "a published figure was measured by others, on a machine of theirs: it stands beside."),
    ([(*FASTER, "modelled")], "not testable here", "a model is no measurement."),
    ([(*SLOWER, "published")], "not testable here",
     "of your machine what others published on theirs refutes no more than it proves."),
    ([(*FASTER, "live"), (*SLOWER, "modelled")], "holds",
     "the one that was measured is faster; the modelled one has no vote."),
)  # fmt: skip

stub = '''\
def my_verdict(figures):
    """"holds", "holds with limits", "refuted" or "not testable here": is our GPU faster?

    figures: a list of (seconds on a CPU, seconds on a GPU, kind), one for each network; kind is
    "live", "recorded", "published" or "modelled", and only what was measured on ours decides.
    """
    faster = [gpu < cpu for cpu, gpu, kind in figures]
    return "holds" if all(faster) else "refuted"  # Your turn: and the other two?
'''

solution = '''\
def my_verdict(figures):
    """"holds", "holds with limits", "refuted" or "not testable here": is our GPU faster?

    figures: a list of (seconds on a CPU, seconds on a GPU, kind), one for each network; kind is
    "live", "recorded", "published" or "modelled", and only what was measured on ours decides.
    """
    faster = [gpu < cpu for cpu, gpu, kind in figures if kind in ("live", "recorded")]
    if not faster:
        return "not testable here"
    if all(faster):
        return "holds"
    return "holds with limits" if any(faster) else "refuted"
'''


def judge(attempt):
    """Every combination of kinds and orders that a hasty judge would miss."""
    for figures, word, why in CASES:
        said = run(attempt, (list(figures),), {})
        if said == word:
            continue
        given = ", ".join(f"{cpu:g} s against {gpu:g} s {kind}" for cpu, gpu, kind in figures)
        asked = given or "no figures at all"
        if said not in WORDS:
            raise Trouble(f"{asked}: {said!r} is none of the four words.", "its return.")
        raise Trouble(f"{asked}: you say “{said}”, but {why}", "the docstring's four words.")
    return f"{len(CASES)} cases, each with the word that its figures allow."


exercise = Exercise(__name__, stub, solution, judge=judge)
