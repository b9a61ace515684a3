"""What does a request cost on GPUs that are paid by the day, busy or idle?"""

from gpulessons.exercises.asking import a_function

text = '''\
def my_price(load, day, full, together):
    """Dollars for 1,000 requests, where a day has `load` of them.
    day: dollars that one copy of the model, with its GPUs, costs a day, busy or idle. full:
    requests a day that it answers at full load. together: copies are bought in groups of so many.
    """
    ### BEGIN SOLUTION
    groups = np.ceil(load / (full * together))
    return groups * together * day / load * 1000
    ### STUB
    return day / full * 1000  # Your turn: this copy is always full.
    ### END SOLUTION
'''

CASES = ((20_000, 100, 155_000, 1), (310_000, 100, 155_000, 1), (310_001, 100, 155_000, 1),
         (20_000, 30, 155_000, 8), (2_000_000, 30, 155_000, 8), (7, 3, 2, 3))  # fmt: skip
mistakes = (
    ("GPUs come whole: a part of one costs as much as all of it.",
     "np.ceil(load / (full * together))", "load / (full * together)"),
    ("They come in groups: the last group may be mostly idle.",
     "groups * together", "np.ceil(load / full)"),
    ("A group is several GPUs, and each of them is paid.", "groups * together * day",
     "groups * day"),
)  # fmt: skip
hints = ("How many groups does the load need?", "groups = np.ceil(load / (full * together))")

exercise = a_function(
    __name__, text, CASES, "how many GPUs are paid, and how many requests pay for them.",
    "Six days, from one GPU mostly idle to three servers.", mistakes, hints,
)
