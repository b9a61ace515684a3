"""Judge a claim about GPUs: which figures may decide, and what may be said of them?"""

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch

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
WORDS = ("holds", "holds with limits", "refuted", "not testable here")

# Figures, the word that they allow, and what another word says about the judge.
CASES = (
    ([(*FASTER, "live"), (*FASTER, "live")], "holds",
     "both networks are faster on the GPU, and you measured both."),
    ([(*FASTER, "live"), (*SLOWER, "live")], "holds with limits",
     "one network is faster, another is not: it is true of some."),
    ([(*SLOWER, "live"), (*FASTER, "live")], "holds with limits",
     "one is not faster and the next one is: the order of the figures says nothing."),
    ([(*SLOWER, "live"), (5.0, 5.0, "live")], "refuted",
     "none is faster, for a tie is not, and you measured them all."),
    ([], "not testable here", "without a figure nothing is known, not even that it is wrong."),
    ([(*FASTER, "recorded")], "holds",
     "a recording from a named machine is a measurement, and may decide."),
    ([(*SLOWER, "published")], "not testable here",
     "a published figure was measured by others, on a machine of theirs: it stands beside."),
    ([(*FASTER, "live"), (*SLOWER, "modelled")], "holds",
     "the one that was measured is faster; the modelled one has no vote."),
)  # fmt: skip


def judge(attempt):
    """Every combination of kinds and orders that a hasty judge would miss."""
    for figures, word, why in CASES:
        verdict = run(attempt, (list(figures),), {})
        if verdict == word:
            continue
        given = ", ".join(f"{cpu:g} s against {gpu:g} s {kind}" for cpu, gpu, kind in figures)
        given = given or "no figures at all"
        if verdict not in WORDS:
            raise Mismatch(f"{given}: {verdict!r} is none of the four words.", "its return.")
        raise Mismatch(f"{given}: you say “{verdict}”, but {why}", "the docstring's four words.")
    return f"{len(CASES)} cases, each with the word that its figures allow."


exercise = Exercise(__name__, text, judge=judge)
