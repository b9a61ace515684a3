"""Judge a claim: which of its figures may speak, and what do they say together?"""

from gpulessons.exercises.asking import a_function

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
    return "holds" if middles and min(middles) >= holds else "refuted"
    ### END SOLUTION
'''

INF = float("inf")
CASES = (
    ([(2, 9)], 1, 3), ([(4, 5), (1.5, 2)], 1, 3), ([(0.5, 9), (4, 5)], 1, 3),
    ([(3, 9)], 1, 3), ([(0.1, 0.2), (0.5, 0.9)], 1, 3), ([(4, 5), (0.5, 0.9)], 1, 3),
    ([(1, 2)], 1, 3), ([(0.5, 1)], 1, 3), ([(2, 3)], 1, 3), ([(0.5, 9)], 1, 3),
    ([(4, 5)], 10, 100), ([(0.4, 0.5)], 0.1, 0.3), ([(20, 30)], 10, 100), ([(1, 1)], 1, 1),
    ([(4, 5), (6, 7), (0.1, 0.5)], 1, 3), ([(0.5, 9), (0.5, 5), (0.1, 0.5)], 1, 3),
    ([(-INF, 0.8)], 1, 3), ([(-INF, 20)], 1, 3), ([(5, INF)], 1, 3), ([], 1, 3),
)  # fmt: skip
mistakes = (
    ("A range that reaches over a border may lie on either side: it says nothing.",
     "elif low >= refuted and high < holds", "else"),
    ("One figure against it does not refute what another speaks for.",
     'len(said) > 1:\n        return "holds with limits"',
     '"refuted" in said:\n        return "refuted"'),
    ("The border itself speaks for the statement: from `holds` on.", "low >= holds", "low > holds"),
)  # fmt: skip

exercise = a_function(
    __name__, text, CASES, "the docstring: what each range may say, alone and beside others.",
    f"{len(CASES)} cases, each with the word that its figures allow.", mistakes,
)
