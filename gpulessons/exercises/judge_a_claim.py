"""Judge a claim: one word for its figures, which are no votes, and how many authors found them."""

import math

from gpulessons.exercises.asking import a_function

text = '''\
def my_word(figures, refuted, holds):
    """(word, authors) for a list of figures (author, least, most). The words stand above.

    A figure supports if all of it is at `holds` or above, and contradicts if all of it is at
    `refuted` or below. A point has least == most; of "at most 98" the least is -inf.
    authors: how many there are. refuted < holds.
    """
    ### BEGIN SOLUTION
    supports = [least >= holds for author, least, most in figures]
    below = [most < holds for author, least, most in figures]
    contradicts = [most <= refuted for author, least, most in figures]
    word = "undecided"
    if all(supports):
        word = "holds"
    elif any(supports) and any(below):
        word = "depends"
    elif all(below) and any(contradicts):
        word = "refuted"
    return word, len({author for author, least, most in figures})
    ### STUB
    votes = sum(most >= holds for author, least, most in figures)  # Your turn: no figure votes.
    return "holds" if 2 * votes > len(figures) else "refuted", len(figures)
    ### END SOLUTION
'''

INF = math.inf


def points(*figures):
    return [(author, value, value) for author, value in figures]


CASES = (*((figures, 1, 3) for figures in (
    points(("A", 5), ("A", 4), ("B", 0.5)), points(("A", 3), ("B", 9)), points(("A", 3), ("A", 1)),
    points(("A", 1), ("B", 0.2)), points(("A", 2), ("B", 2.5)), points(("A", 5), ("B", 2)),
    [("A", 5, 5), ("B", 2, 3)], points(("A", 3)), points(("A", 1)), points(("A", 2), ("A", 2)),
    points(("A", 9), ("B", 0.9), ("B", 0.1), ("A", 2)), points(("B", 0.9), ("C", 2), ("B", 2.9)),
    [("A", -INF, 98)], [("A", -INF, 0.9)], [("A", -INF, 2)], [("A", 4, INF)], [("A", 2, INF)],
    [("A", 4, 4), ("B", -INF, 98)], [("A", 4, 4), ("B", -INF, 2)], [("A", 0.5, 2), ("B", 1, 1)],
    [("A", 4, 4), ("B", 2, 9), ("C", 0.5, 0.9)], [("A", 0.5, 0.5), ("B", -INF, 9)],
)), (points(("A", 40), ("B", 60)), 10, 30), (points(("A", 9), ("B", 30)), 10, 30))  # fmt: skip
mistakes = (
    ("The upper threshold itself supports: from `holds` on.", "least >= holds", "least > holds"),
    ("“At most” is a figure's most: what is at most 98 need not be 3.", "least >= holds",
     "most >= holds"),
    ("An author who is named twice is one author.",
     "len({author for author, least, most in figures})", "len(figures)"),
)

exercise = a_function(
    __name__, text, CASES, "the four words: first what each figure says, then the word for all.",
    f"{len(CASES)} sets of figures, each with its word and its authors.", mistakes,
)
