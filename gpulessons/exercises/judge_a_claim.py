"""Judge a claim: which words may its figures have, and which do they allow together?"""

from gpulessons.exercises.asking import a_function

text = '''\
def my_words(figures, refuted, holds):
    """The words that figures allow together, sorted, of "holds", "limits" and "refuted".

    figures: a list of (low, high), one or more. A figure allows each word that its range reaches:
    "holds" from `holds` on, "refuted" below `refuted`, "limits" between the two. Take one word
    from each figure: all the same is that word, else "limits". Every word that can come out counts.
    """
    ### BEGIN SOLUTION
    sets = []
    for low, high in figures:
        between = low < holds and high >= refuted and refuted < holds
        reached = {"holds": high >= holds, "refuted": low < refuted, "limits": between}
        sets.append({word for word, there in reached.items() if there})
    words = sets[0]
    for allowed in sets[1:]:
        words = {one if one == other else "limits" for one in words for other in allowed}
    return sorted(words)
    ### STUB
    words = set()
    for low, high in figures:
        middle = (low + high) / 2  # Your turn: a range may reach several words
        words.add("holds" if middle >= holds else "refuted")
    return sorted(words)  # Your turn: two that differ are "limits"
    ### END SOLUTION
'''

INF = float("inf")
CASES = (
    ([(4, 5)], 1, 3), ([(2, 9)], 1, 3), ([(0.1, 0.5)], 1, 3), ([(4, 5), (0.5, 0.9)], 1, 3),
    ([(3, 9)], 1, 3), ([(1, 2)], 1, 3), ([(0.5, 1)], 1, 3), ([(2, 3)], 1, 3), ([(0.5, 9)], 1, 3),
    ([(4, 5), (1.5, 2)], 1, 3), ([(4, 5), (0.5, 9)], 1, 3), ([(0.5, 0.7), (0.5, 9)], 1, 3),
    ([(0.1, 0.2), (0.5, 0.9)], 1, 3), ([(4, 5), (2, 9)], 1, 3), ([(2, 9), (0.5, 1)], 1, 3),
    ([(4, 5)], 10, 100), ([(0.4, 0.5)], 0.1, 0.3), ([(5, 30)], 10, 100), ([(1, 1)], 1, 1),
    ([(4, 5), (6, 7), (0.1, 0.5)], 1, 3), ([(0.5, 9), (0.5, 5), (0.1, 0.5)], 1, 3),
    ([(-INF, 0.8)], 1, 3), ([(-INF, 20)], 1, 3), ([(5, INF)], 1, 3), ([(0.5, 2)], 1, 1),
)  # fmt: skip
mistakes = (
    ("Two that differ allow “limits” together, and no longer what each allows alone.",
     '{one if one == other else "limits" for one in words for other in allowed}',
     "words | allowed"),
    ("Where one figure contradicts the other, they allow “limits”, and not nothing.",
     '{one if one == other else "limits" for one in words for other in allowed}',
     "words & allowed"),
    ("The border itself holds: from `holds` on.", "high >= holds", "high > holds"),
)  # fmt: skip

exercise = a_function(
    __name__, text, CASES, "the docstring: what each range allows, alone and beside others.",
    f"{len(CASES)} cases, each with the words that its figures allow.", mistakes,
)
