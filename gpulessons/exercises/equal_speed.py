"""How many times as much does one GPU process, where both serve each user equally fast?"""

from gpulessons.exercises.asking import a_function

text = '''\
def my_gain(speed, old, new):
    """The throughput of `new` over that of `old`, at a speed that both reach.
    speed: tokens/s that each user gets. old, new: the runs of one GPU, [(speed, throughput), …],
    the slowest users first. Between two runs, read off a straight line: np.interp.
    """
    ### BEGIN SOLUTION
    at_old, at_new = (np.interp(speed, *zip(*runs)) for runs in (old, new))
    return at_new / at_old
    ### STUB
    return new[0][1] / old[0][1]  # Your turn: this compares each GPU's largest throughput.
    ### END SOLUTION
'''

OLD, NEW = [(20, 100), (40, 60), (80, 10)], [(10, 400), (30, 300), (90, 60)]
CASES = (30, OLD, NEW), (40, OLD, NEW), (75, OLD, NEW), (30, NEW, OLD), (22, OLD, OLD)
mistakes = (
    ("The old GPU is the one that is compared with: it stands below.", "at_new / at_old",
     "at_old / at_new"),
    ("No run had just this speed: read off the line between the two around it.",
     "np.interp(speed, *zip(*runs))", "min((abs(at - speed), made) for at, made in runs)[1]"),
    ("Read off each GPU at the same speed, not at the speed of a run of the other one.",
     "np.interp(speed,", "np.interp(min(s for s, _ in old if s >= speed),"),
)  # fmt: skip

exercise = a_function(
    __name__, text, CASES, "the two throughputs at one speed, by hand.",
    "Five speeds, on runs and between them.", mistakes,
)  # fmt: skip
