"""Sort the tokens by their experts, so that each expert's lie side by side."""

import numpy as np

from gpulessons.exercises.asking import a_function

text = '''\
def my_groups(choice, experts):
    """(order, ends): which tokens to take, those of expert 0 first, and where each expert's end.

    choice: (tokens,) integers, the expert of each token. order: (tokens,), those of one expert in
    their old order. ends: (experts,), so that expert 1 has order[ends[0]:ends[1]].
    """
    ### BEGIN SOLUTION
    order = np.argsort(choice, kind="stable")
    ends = np.bincount(choice, minlength=experts).cumsum()
    return order, ends
    ### STUB
    order = range(len(choice))  # Your turn: in which order do an expert's tokens lie together?
    ends = [len(choice)] * experts
    return order, ends
    ### END SOLUTION
'''

RNG = np.random.default_rng()  # the last case is another every time
CASES = ((np.array([2, 0, 2, 1]), 3), (np.array([1, 1, 3]), 5),  # nobody chose 0, 2 and 4
         (np.array([0]), 1), (RNG.integers(0, 9, 500), 12))  # fmt: skip
mistakes = (
    ("Those are counts. Where an expert's tokens end is the running sum of them.", ".cumsum()", ""),
    ("An expert whom no token chose has an end too.", ", minlength=experts", ""),
    ("Those are the starts: an expert's tokens end where the next expert's begin.",
     "np.bincount(choice, minlength=experts).cumsum()",
     "np.searchsorted(np.sort(choice), np.arange(experts))"),
)  # fmt: skip
hints = (
    "np.argsort says which element comes first, second, third, if they are sorted; a stable sort "
    "keeps equals in their old order. np.bincount says how many tokens each expert has.",
    'order = np.argsort(choice, kind="stable")',
)

exercise = a_function(
    __name__, text, CASES, "who comes first, and where each expert's tokens end.",
    "One sort, whatever the number of experts: {0}.", mistakes, hints,
)  # fmt: skip
