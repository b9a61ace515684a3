"""Judge a claim: one word for its figures, which are no votes, and how many authors found them."""

from gpulessons.exercises.asking import a_function

text = '''\
def my_word(figures, refuted, holds):
    """(word, authors) of a list of figures, pairs (author, value), at least one; refuted < holds.

    A value of `holds` or more supports, one of `refuted` or less contradicts. The word is "holds"
    if all support, "depends" if some do, "refuted" if none does and some contradict, and else
    "undecided". authors: how many different ones there are.
    """
    ### BEGIN SOLUTION
    supports = [value >= holds for author, value in figures]
    contradicts = [value <= refuted for author, value in figures]
    word = "refuted" if any(contradicts) else "undecided"
    if any(supports):
        word = "holds" if all(supports) else "depends"
    return word, len({author for author, value in figures})
    ### STUB
    votes = sum(value >= holds for author, value in figures)  # Your turn: figures are no votes.
    return "holds" if 2 * votes > len(figures) else "refuted", len(figures)
    ### END SOLUTION
'''

CASES = (*((figures, 1, 3) for figures in (
    [("A", 5), ("A", 4), ("B", 0.5)], [("A", 3), ("B", 9)], [("A", 1), ("B", 0.2)],
    [("A", 2), ("B", 2.5)], [("A", 5), ("B", 2)], [("A", 0.5), ("B", 2)], [("A", 3), ("A", 1)],
    [("A", 3)], [("A", 1)], [("A", 2)], [("A", 2), ("A", 2)], [("A", 0.5), ("B", 2), ("C", 4)],
    [("A", 9), ("B", 0.9), ("B", 0.1), ("A", 2)], [("B", 0.9), ("C", 2), ("B", 2.9)],
)), ([("A", 40), ("B", 60)], 10, 30), ([("A", 9), ("B", 30)], 10, 30))  # fmt: skip
mistakes = (
    ("The upper border itself supports: from `holds` on.", "value >= holds", "value > holds"),
    ("The lower border itself contradicts.", "value <= refuted", "value < refuted"),
    ("An author who is named twice is one author.", "len({author for author, value in figures})",
     "len(figures)"),
)

exercise = a_function(
    __name__, text, CASES, "the docstring: first what each figure says, then the word.",
    f"{len(CASES)} sets of figures, each with its word and its authors.", mistakes,
)
