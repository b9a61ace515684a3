"""Make batch size pay: many questions, and as few readings of the weights as can be."""

import numpy as np

from gpulessons.exercises.asking import check_like
from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, Wasteful
from gpulessons.ops.dense import dense, layer

ROOM, QUESTIONS = 32, 70  # two full batches and a rest
HINT = "how many questions each call takes along."

text = '''\
import numpy as np

def my_answers(layer, questions):
    """A list of answers to a list of questions. layer(x) takes up to 32 rows x at once."""
    answers = []
    ### BEGIN SOLUTION
    for start in range(0, len(questions), 32):
        answers.extend(layer(np.stack(questions[start : start + 32])))
    ### STUB
    for x in questions:
        answers.append(layer(x[np.newaxis])[0])  # Your turn: every call reads all the weights.
    ### END SOLUTION
    return answers
'''

mistakes = (
    ("The last questions have no answer: they fill no batch.",
     "range(0, len(questions), 32)", "range(0, len(questions) - 31, 32)"),
    ("The answers of a batch do not belong to its questions.",
     "start + 32])", "start + 32])[::-1]"),
)  # fmt: skip


def judge(attempt):
    """70 questions: the right answers in order, for three readings of the weights."""
    x, w, b = layer(QUESTIONS, np.random.default_rng(6), 24, 8)
    readings, least = [], -(-QUESTIONS // ROOM)

    def a_layer(rows):
        if np.shape(rows)[1:] != (24,) or len(rows) > ROOM:
            given = f"The layer was given an array of shape {np.shape(rows)}"
            raise Mismatch(f"{given}; it takes up to {ROOM} rows of 24.", HINT)
        readings.append(len(rows))
        return dense(np.asarray(rows), w, b)

    check_like(text, attempt, [(a_layer, list(x))], HINT, mistakes)
    readings.clear()
    attempt(a_layer, list(x))
    if len(readings) > least:
        times = f"the weights were read {len(readings)} times"
        raise Wasteful(f"{times}, where {least} will do.", HINT)
    return f"{QUESTIONS} answers for {len(readings)} readings of the weights."


exercise = Exercise(__name__, text, judge=judge)
