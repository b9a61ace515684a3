"""A warp is done when its slowest lane is: how many iterations do all warps go through?"""

import numpy as np

from gpulessons.exercises.asking import a_function

text = '''\
def my_rounds(turns):
    """turns: (n,) int32, the iterations that each pixel wants; pixel i is thread i's.

    Returns the sum over the warps of 32 of the iterations that a warp goes through. The last warp
    may have fewer pixels.
    """
    ### BEGIN SOLUTION
    return sum(turns[first : first + 32].max() for first in range(0, turns.size, 32))
    ### STUB
    return turns.sum() / 32  # Your turn: when is a warp done?
    ### END SOLUTION
'''

rng = np.random.default_rng(0)
cases = [(rng.integers(1, 65, size).astype(np.int32),) for size in (64, 31, 33, 1, 1000)]

mistakes = (
    ("this is the average lane's; a warp waits for its slowest.", ".max()", ".mean()"),
    ("this leaves out a last warp that is not full.", "turns.size, 32", "turns.size - 31, 32"),
    ("this is the work of all lanes, as if each had a core of its own.", ".max()", ".sum()"),
)

exercise = a_function(
    __name__, text, cases, "each 32 in a row, and their largest.",
    "{0} iterations for the first case: a warp goes on until its last pixel is done.", mistakes,
)
