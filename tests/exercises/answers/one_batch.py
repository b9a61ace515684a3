"""Answers to `one_batch`: its solution with one edit each."""

from gpulessons.exercises import one_batch

solution, stub = one_batch.solution, one_batch.stub

wrong = [
    (solution, stub, "70 times"),
    ("32)", "31)", "72 answers"),
    ("range(0, len(questions), 32)", "range(0, len(questions) - 31, 32)", "64 answers"),
    ("start : start + 32", "start : start + 64", "room for 32"),
    ("32", "16", "5 times"),
    ("answers.extend(", "answers.append(", "3 answers"),
    ("np.stack(questions[start : start + 32])",
     "np.stack(questions[start : start + 32])[::-1]", "to their questions"),
    ("answers.extend(layer(np.stack(questions[start : start + 32])))",
     "answers += list(np.stack(questions[start : start + 32]) @ layer.w.T)", "no attribute 'w'"),
    ("    return answers", "    layer.readings = 3", "nothing"),
    ("    return answers", "    return {1: answers}", "but one dict"),
    ("    return answers", "    return [a[:, None] for a in answers]", "shape (8, 1)"),
    ("        answers", "        questions[start] *= 2\n        answers", "changed the questions"),
    ("    return answers", "    questions.clear()\n    return answers", "changed the questions"),
    ("answers = []", "return np.zeros((len(questions), 8))", "to their questions"),
    ("answers = []", "return [layer(x) for x in questions]", "shape (24,)"),
]  # fmt: skip

right = [
    ("    return answers", "    return np.array(answers)"),
    ("np.stack(questions[start : start + 32])", "questions[start : start + 32]"),
    ("range(0, len(questions), 32)", "range(0, 70, 32)"),
    ("    for start in range(0, len(questions), 32):\n"
     "        answers.extend(layer(np.stack(questions[start : start + 32])))\n",
     "    for part in np.array_split(questions, -(-len(questions) // 32)):\n"
     "        answers += list(layer(part))\n"),
]  # fmt: skip
