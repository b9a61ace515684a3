"""Judge a claim: which of its figures may speak, and what do they say together?"""

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch

text = '''\
def my_word(figures, refuted, holds):
    """"holds", "holds with limits", "refuted" or "open": what figures say of a statement.

    figures: a list of (low, high). One from `holds` on speaks for it, one below `refuted` against
    it, one between the two for it with limits; one that reaches over a border says nothing.
    """
    ### BEGIN SOLUTION
    said = set()
    for low, high in figures:
        if low >= holds:
            said.add("holds")
        elif high < refuted:
            said.add("refuted")
        elif low >= refuted and high < holds:
            said.add("holds with limits")
    if len(said) > 1:
        return "holds with limits"
    return said.pop() if said else "open"
    ### STUB
    middles = [(low + high) / 2 for low, high in figures]  # Your turn: a range may say nothing
    return "holds" if min(middles) >= holds else "refuted"
    ### END SOLUTION
'''

WORDS = ("holds", "holds with limits", "refuted", "open")
INF = float("inf")

# Figures for the borders 1 and 3, the word that they allow, and why no other.
CASES = (
    ([(4, 5), (3, 9)], "holds", "both ranges lie from 3 on."),
    ([(0.1, 0.2), (0.5, 0.9)], "refuted", "both ranges lie below 1."),
    ([(4, 5), (0.5, 0.9)], "holds with limits", "one speaks for it, another against it."),
    ([(1, 2)], "holds with limits", "it lies between the borders, and 1 itself is not below 1."),
    ([], "open", "without a figure nothing is known."),
    ([(0.5, 9)], "open", "it may be below 1, and it may be above 3."),
    ([(2, 9)], "open", "it may be below 3, and it may be above."),
    ([(0.5, 9), (4, 5)], "holds", "the wide range says nothing, and takes nothing from the other."),
    ([(-INF, 0.8)], "refuted", "“at most 0.8” is enough to be below 1."),
    ([(-INF, 20)], "open", "“at most 20” does not say how little it is."),
    ([(5, INF)], "holds", "“at least 5” is enough."),
)  # fmt: skip


def judge(attempt):
    """Every kind of range alone, and the mixtures that a hasty judge would miss."""
    for figures, word, why in CASES:
        said = run(attempt, (list(figures), 1, 3), {})
        if said == word:
            continue
        given = ", ".join(f"{low:g} to {high:g}" for low, high in figures) or "no figures at all"
        if said not in WORDS:
            raise Mismatch(f"{given}: {said!r} is none of the four words.", "its return.")
        raise Mismatch(f"{given}, borders 1 and 3: you say “{said}”, but {why}", "the docstring.")
    return f"{len(CASES)} cases, each with the word that its figures allow."


exercise = Exercise(__name__, text, judge=judge)
