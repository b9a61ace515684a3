"""Judge a claim: one word for figures of several authors, which are no votes."""

from gpulessons.exercises.asking import a_function

text = '''\
def my_word(figures, refuted, holds):
    """The word for a list of figures, pairs (author, value), at least one; refuted < holds.

    "holds" if all values are `holds` or more, "refuted" if all are `refuted` or less,
    "conflict" if one author has only such that hold, and another only refuted ones,
    and else "limits".
    """
    ### BEGIN SOLUTION
    by = {}
    for author, value in figures:
        side = "holds" if value >= holds else "refuted" if value <= refuted else "limits"
        by.setdefault(author, set()).add(side)
    words = list(by.values())
    if {"holds"} in words and {"refuted"} in words:
        return "conflict"
    return words[0].pop() if len(set.union(*words)) == 1 else "limits"
    ### STUB
    holding = sum(value >= holds for author, value in figures)
    return "holds" if 2 * holding > len(figures) else "refuted"  # Your turn: no vote
    ### END SOLUTION
'''

CASES = (*((figures, 1, 3) for figures in (
    [("A", 5), ("A", 4), ("B", 0.5)], [("A", 5), ("A", 0.5), ("B", 4)], [("A", 3), ("B", 9)],
    [("A", 1), ("B", 0.2)], [("A", 2), ("B", 2.5)], [("A", 5), ("B", 2)], [("A", 0.5), ("B", 2)],
    [("A", 3), ("B", 1)], [("A", 9), ("A", 0.1)], [("A", 3)], [("A", 1)], [("A", 2)],
    [("A", 0.5), ("B", 2), ("C", 4)], [("A", 5), ("A", 2), ("B", 0.5)],
    [("A", 5), ("B", 0.5), ("A", 0.7)], [("A", 5), ("B", 0.5), ("B", 2)],
    [("B", 0.9), ("B", 0.1), ("A", 2), ("C", 3)],
)), ([("A", 40), ("B", 60)], 10, 30), ([("A", 9), ("B", 30)], 10, 30))  # fmt: skip
mistakes = (
    ("The upper border itself holds: from `holds` on.", "value >= holds", "value > holds"),
    ("The lower border itself is refuted.", "value <= refuted", "value < refuted"),
    ("An author with figures on both sides does not conflict with anybody: there the case decides.",
     '{"holds"} in words and {"refuted"} in words', '{"holds", "refuted"} <= set.union(*words)'),
)

exercise = a_function(
    __name__, text, CASES, "the docstring: all figures of an author first, then the authors.",
    f"{len(CASES)} sets of figures, each with its word.", mistakes,
)
