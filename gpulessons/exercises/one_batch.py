"""Make batch size pay: many questions, and as few readings of the weights as can be."""

import numpy as np

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Trouble, refuse_changes, returned
from gpulessons.ops.dense import dense, layer

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


def judge(attempt):
    """70 questions: the right answers in order, for three readings of the weights."""
    x, w, b = layer(QUESTIONS, np.random.default_rng(6), 24, 8)
    readings = []
    given = list(x.copy())
    answers = run(attempt, (counted(w, b, readings), given), {})
    refuse_changes(x, given, "the questions")
    refuse_others(returned(answers), dense(x, w, b))
    least = -(-QUESTIONS // ROOM)
    if len(readings) > least:
        raise Trouble(f"Right, but the weights were read {len(readings)} times, where {least} "
                      "will do.", "how many questions each call takes along.")  # fmt: skip
    return f"{QUESTIONS} answers for {len(readings)} readings of the weights."


def counted(w, b, readings):
    """A layer with room for so many examples, that notes how many each call takes along."""

    def layer(x):
        if np.ndim(x) != 2 or np.shape(x)[1] != w.shape[1]:
            raise Trouble(
                f"The layer was given an array of shape {np.shape(x)}; (examples, 24) is due.",
                "what one row of its input is.",
            )
        if len(x) > ROOM:
            raise Trouble(f"The layer has room for {ROOM} examples, and was given {len(x)}.",
                          "how many questions each call takes along.")  # fmt: skip
        readings.append(len(x))
        return dense(x, w, b)

    return layer


def refuse_others(answers, due):
    """Trouble, unless these are the answers, one for each question, in a list or an array."""
    if not isinstance(answers, list | tuple | np.ndarray):
        raise Trouble(f"It returned no list of answers but one {type(answers).__name__}.",
                      "its last line.")  # fmt: skip
    if len(answers) != len(due):
        raise Trouble(f"{len(due)} questions, {len(answers)} answers.", "the last batch; the list.")
    for answer in answers:
        if np.shape(answer) != due[0].shape:
            raise Trouble(f"An answer has shape {np.shape(answer)}, where {due[0].shape} is due.",
                          "what one row of the layer's output is.")  # fmt: skip
    strangers = sum(not np.allclose(*pair, atol=1e-5) for pair in zip(answers, due, strict=True))
    if strangers:
        raise Trouble(f"{len(due)} answers, of which {strangers} do not belong to their questions.",
                      "the order in which questions go in and answers come out.")  # fmt: skip


exercise = Exercise(__name__, stub, solution, judge=judge)
