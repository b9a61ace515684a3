"""What does one request take of the GPUs, in a batch of any size? One, timed alone, tells it."""

from gpulessons.exercises.asking import a_function

text = '''\
def my_seconds(batch, prompt, step, steps, weights, cache):
    """GPU seconds that one request takes, where a batch of them shares each step.
    prompt: seconds of its prompt. step: seconds of a step for one request alone, which reads the
    weights and that request's cache. steps: how many it needs. weights, cache: bytes. A step takes
    time in proportion to the bytes that it reads.
    """
    ### BEGIN SOLUTION
    longer = (weights + batch * cache) / (weights + cache)
    return prompt + steps * step * longer / batch
    ### STUB
    return prompt + steps * step  # Your turn: what do the requests of a batch share?
    ### END SOLUTION
'''

CASES = ((1, 2.0, 0.5, 8, 70, 1), (4, 2.0, 0.5, 8, 70, 2), (86, 0.4, 0.0186, 499, 70.6, 0.86),
         (3, 0.5, 0.25, 7, 9, 4))  # fmt: skip
mistakes = (
    ("Half way there: the weights are shared. But a step of a larger batch takes longer: it reads "
     "the cache of each request.", " * longer", ""),
    ("Requests share the steps. Each has a prompt of its own.",
     "prompt + steps * step * longer / batch", "(prompt + steps * step * longer) / batch"),
    ("So long is the batch's step. What is one request's share of it?", " / batch", ""),
)
hints = ("A step serves the whole batch. So what is one request's part of its seconds?",
         "longer = (weights + batch * cache) / (weights + cache)")  # fmt: skip

exercise = a_function(
    __name__, text, CASES, "which seconds are one request's alone, and which the batch shares.",
    "Four batches, of one and of many.", mistakes, hints,
)
