"""Whose factor is it? A headline that grew in stages, split into what each stage did."""

from gpulessons.exercises.asking import a_function

text = '''\
def my_factors(headlines):
    """The factor of each change, as a list: all of them multiplied give the last headline.

    headlines: what the headline was after each change, in order. The first counts from 1.
    """
    ### BEGIN SOLUTION
    before = [1, *headlines]
    return [after / b for b, after in zip(before, headlines)]
    ### STUB
    return headlines  # Your turn: what did each change do by itself?
    ### END SOLUTION
'''

CASES = [([2, 6, 24],), ([0.5, 2, 1, 8],), ([3],), ([4, 4, 12, 6],)]
mistakes = (
    ("Factors multiply: what a change did is a quotient, not a difference.",
     "after / b for", "after - b for"),
    ("A change counts from the headline before it, not from the first one.",
     "before = [1, *headlines]", "before = [1] + [headlines[0]] * len(headlines)"),
    ("It is the headline after the change, over the one before it.", "after / b", "b / after"),
)  # fmt: skip

exercise = a_function(
    __name__, text, CASES, "2, 6, 24: the first change made it 2 times, the next 3 times …",
    "One headline that fell, too.", mistakes,
)  # fmt: skip
