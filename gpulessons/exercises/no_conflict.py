"""Will Hogwild do? The chance that two sparse examples share no feature."""

from gpulessons.exercises.asking import a_function

text = '''\
def my_chance(features, active):
    """That two examples, each of `active` different features, have none in common."""
    ### BEGIN SOLUTION
    chance = 1.0
    for taken in range(active):
        chance *= (features - active - taken) / (features - taken)
    return max(0.0, chance)
    ### STUB
    ...  # Your turn: the first example is given. Where may each feature of the second be?
    ### END SOLUTION
'''

hints = (
    "The first example is given. A first feature of the second has F - A places to be in, of F."
    " And the next one?",
    "chance *= (features - active - taken) / (features - taken)",
)
mistakes = (
    ("That is the chance that they do share one.", "max(0.0, chance)", "1 - chance"),
    ("For each feature of the second it looks as if one place is taken, not all.",
     "(features - active - taken) / (features - taken)", "1 - 1 / features"),
    ("As if a feature may be drawn twice; these are all different.",
     "(features - active - taken) / (features - taken)", "1 - active / features"),
)  # fmt: skip

exercise = a_function(
    __name__, text, ((100, 3), (64, 30), (2_000, 40), (6, 3), (50, 40)),
    "the features of the second example, one by one.",
    "30 of 64 always meet, 30 of a million hardly ever: that decides about Hogwild.",
    mistakes, hints,
)
