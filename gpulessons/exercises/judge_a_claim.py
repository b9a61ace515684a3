"""Judge a claim: which words does the range of a figure allow?"""

from gpulessons.exercises.asking import a_function

text = '''\
def my_words(low, high, refuted, holds):
    """A sorted list of the words that a figure's range, low to high, allows.

    "holds" where it reaches `holds` or more, "refuted" where it reaches `refuted` or
    less, "limits" where it reaches between them; refuted < holds. Ends may be infinite.
    """
    ### BEGIN SOLUTION
    reached = {
        "holds": high >= holds,
        "limits": high > refuted and low < holds,
        "refuted": low <= refuted,
    }
    return sorted(word for word in reached if reached[word])
    ### STUB
    middle = (low + high) / 2  # Your turn: a range may reach several words
    return ["holds" if middle >= holds else "refuted"]
    ### END SOLUTION
'''

INF = float("inf")
CASES = (
    (4, 5, 1, 3), (2, 9, 1, 3), (0.1, 0.5, 1, 3), (3, 9, 1, 3), (1.5, 2, 1, 3), (2, 3, 1, 3),
    (0.5, 1, 1, 3), (1, 1, 1, 3), (1, 2, 1, 3), (0.5, 2, 1, 3), (0.5, 9, 1, 3), (3, 3, 1, 3),
    (4, 5, 10, 100), (5, 30, 10, 100), (0.2, 0.25, 0.1, 0.3), (0.4, 0.5, 0.1, 0.3),
    (-INF, 0.8, 1, 3), (-INF, 20, 1, 3), (5, INF, 1, 3), (2, INF, 1, 3),
)
mistakes = (
    ("The upper threshold itself holds: from `holds` on.", "high >= holds", "high > holds"),
    ("The lower threshold itself is refuted: no effect is no gain.",
     "low <= refuted", "low < refuted"),
    ("“limits” needs a part of the range between the thresholds: neither at one nor beyond it.",
     "high > refuted and low < holds", "True"),
)

exercise = a_function(
    __name__, text, CASES, "the docstring: a word for each part that the range reaches.",
    f"{len(CASES)} ranges, each with the words that it allows.", mistakes,
)
