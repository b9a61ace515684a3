"""The loss of one micro-batch of one worker: which, so that all together are the batch's mean?"""

from gpulessons.exercises.asking import a_function

text = '''\
def my_loss(losses, workers, total):
    """What a worker calls backward() on, for one of its micro-batches.

    losses: of the micro-batch's examples. total: how many examples the whole batch has, over all
    workers and micro-batches. A worker's gradients add up; DDP takes the mean over the workers.
    """
    ### BEGIN SOLUTION
    return sum(losses) * workers / total
    ### STUB
    return sum(losses) / len(losses)  # Your turn: right for one worker with one micro-batch.
    ### END SOLUTION
'''

CASES = [([1.0, 2.0, 3.0], 1, 3), ([2.0, 4.0], 4, 8), ([5.0], 2, 7), ([1.0, 0.5, 3.0], 8, 100)]

mistakes = (
    ("DDP divides once more, by the workers.", " * workers / total", " / total"),
    ("A micro-batch of few examples then counts as much as one of many.",
     "sum(losses) * workers / total", "sum(losses) / len(losses) * workers / total"),
)  # fmt: skip

hints = ("Write the batch's mean as one sum over its examples. What does DDP's mean do to it?",
         "return sum(losses) * workers / total")  # fmt: skip

exercise = a_function(
    __name__, text, CASES, "what DDP divides by, and what the whole batch has to be divided by.",
    "Any worker may have any share, in any number of micro-batches.", mistakes, hints,
)  # fmt: skip
