"""Make batch size pay: many questions, and as few readings of the weights as can be."""

import numpy as np

from gpulessons.diagnosis import Trouble
from gpulessons.ops.dense import dense, layer_of

ROOM, QUESTIONS = 32, 70  # two full batches and a rest

stub = '''\
import numpy as np

def my_answers(layer, questions):
    """A list of answers to a list of questions. layer(x) takes up to 32 rows x at once."""
    answers = []
    for x in questions:
        answers.append(layer(x[np.newaxis])[0])  # Your turn: every call reads all the weights.
    return answers
'''

solution = '''\
import numpy as np

def my_answers(layer, questions):
    """A list of answers to a list of questions. layer(x) takes up to 32 rows x at once."""
    answers = []
    for start in range(0, len(questions), 32):
        answers.extend(layer(np.stack(questions[start : start + 32])))
    return answers
'''

wrong = [
    (solution, stub, "70 times"),
    ("32)", "31)", "72 answers"),
    ("range(0, len(questions), 32)", "range(0, len(questions) - 31, 32)", "64 answers"),
    ("start : start + 32", "start : start + 64", "room for 32"),
    ("32", "16", "5 times"),
    ("answers.extend(", "answers.append(", "3 answers"),
    ("np.stack(questions[start : start + 32])",
     "np.stack(questions[start : start + 32])[::-1]", "other questions"),
]  # fmt: skip


class Layer:
    """A dense layer with room for so many examples, which counts how often its weights are read."""

    def __init__(self):
        rng = np.random.default_rng(6)
        self.questions, self.w, self.b = layer_of(QUESTIONS, 24, 8, rng)
        self.readings = 0

    def __call__(self, x):
        if np.ndim(x) != 2 or np.shape(x)[1] != self.w.shape[1]:
            raise Trouble(
                f"The layer was given an array of shape {np.shape(x)}; (examples, 24) is due.",
                "what one row of its input is.",
            )
        if len(x) > ROOM:
            raise Trouble(f"The layer has room for {ROOM} examples, and was given {len(x)}.",
                          "how many questions each call takes along.")  # fmt: skip
        self.readings += 1
        return dense(x, self.w, self.b)


def judge(answer):
    """70 questions: the right answers in order, for three readings of the weights."""
    layer = Layer()
    got, due = answer(layer, list(layer.questions)), dense(layer.questions, layer.w, layer.b)
    if got is None:
        raise Trouble("It returned nothing.", "its last line.")
    if len(got) != QUESTIONS:
        raise Trouble(f"{QUESTIONS} questions, {len(got)} answers.", "the last batch; the list.")
    strangers = sum(not np.allclose(mine, right, atol=1e-5)
                    for mine, right in zip(got, due, strict=True))  # fmt: skip
    if strangers:
        raise Trouble(f"{QUESTIONS} answers, of which {strangers} belong to other questions.",
                      "the order in which questions go in and answers come out.")  # fmt: skip
    least = -(-QUESTIONS // ROOM)
    if layer.readings > least:
        raise Trouble(f"Right, but the weights were read {layer.readings} times, where {least} "
                      "will do.", "how many questions each call takes along.")  # fmt: skip
    return f"{QUESTIONS} answers for {layer.readings} readings of the weights."
