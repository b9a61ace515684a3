"""Every exercise: its stub is not yet, its solution passes, each mistake has its own refusal."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from answers import attempt
from gpulessons import check, exercises
from gpulessons.grader.check import Exercise

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
EXERCISES = [getattr(exercises, name) for name in exercises.NAMES]
ANSWERS = {e: importlib.import_module(f"answers.{e.name}") for e in EXERCISES}
MISTAKES = [(e, *mistake) for e in EXERCISES for mistake in ANSWERS[e].wrong]
OTHERWISE = [(e, other) for e in EXERCISES for other in getattr(ANSWERS[e], "right", [])]
FUNCTIONS = [e for e in EXERCISES if e.judge and "def " in e.stub and "@cuda.jit" not in e.stub]
BEFORE = "import numpy as np\nfrom numba import cuda\n"  # what earlier cells of a notebook imported


def named(exercise):
    return exercise.name


def each(edits):
    return [exercise.name for exercise, *_ in edits]  # pytest numbers those that are equal


def run(exercise, text):
    return check(exercise, attempt(BEFORE + text))


def edited(exercise, what, instead):
    assert what in exercise.solution, "the edit no longer fits the solution"
    return run(exercise, exercise.solution.replace(what, instead))


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_the_stub_is_not_yet_and_told_so(exercise):
    verdict = run(exercise, exercise.stub)
    assert not verdict.passed
    assert "not yet" in repr(verdict)
    told = ("The stub is as it was", "The answer is still", "There is nothing in it yet")
    assert verdict.trouble.startswith(told), verdict
    assert verdict.trouble.count("The stub is as it was") <= 1


@pytest.mark.parametrize("exercise", [e for e in EXERCISES if "def " in e.stub], ids=named)
def test_a_stub_with_other_comments_is_still_the_stub(exercise):
    text = re.sub(r" *# (Your turn|and read it here|Is it|At least|Read, add).*", "  # Hm.",
                  exercise.stub) + "    # My turn.\n"  # fmt: skip
    assert run(exercise, text).trouble.startswith("The stub is as it was")


def test_who_keeps_the_stub_above_the_own_attempt_is_not_told_that_it_is_the_stub():
    exercise = exercises.stable_softmax
    assert run(exercise, f"{exercise.stub}\n{exercise.solution}").passed
    half = exercise.solution.replace("x.max(axis=1, keepdims=True)", "x.max()")
    assert run(exercise, f"{exercise.stub}\n{half}").trouble.startswith("NaN or infinity for a row")


KERNELS = [e for e in EXERCISES if "@cuda.jit" in e.solution]
LAUNCHERS = [e for e in KERNELS if re.search(r"my_\w+\[", e.solution)]
ONE_BLOCK = """
def one_block(blocks, threads):
    blocks, threads = (tuple(n) if hasattr(n, "__len__") else (n,) for n in (blocks, threads))
    pairs = zip((*blocks, 1, 1), (*threads, 1, 1))
    return tuple(b * t for b, t in pairs)[:max(len(blocks), len(threads))]

"""


@pytest.mark.parametrize("exercise", LAUNCHERS, ids=named)
def test_a_single_block_for_everything_is_refused(exercise):
    """A block has 1,024 threads: every exercise tries a size that needs more."""
    text, count = re.subn(r"(my_\w+)\[(.*), (\d+|\(\d+, \d+\)|threads)\]\(",
                          r"\1[1, one_block(\2, \3)](", exercise.solution)  # fmt: skip
    assert count, "the edit no longer fits the solution"
    if exercise.name == "puzzle_grid_stride":  # 256 threads at any size: what it is about
        text = exercise.solution.replace("[4, 64]", "[1, x.size]")
    trouble = run(exercise, ONE_BLOCK + text).trouble
    reasons = "1,024", "where 256 are all you have", "outside its shape"
    assert any(reason in trouble for reason in reasons), trouble


@pytest.mark.parametrize("exercise", KERNELS, ids=named)
def test_it_launches_more_threads_than_one_block_can_have(exercise, monkeypatch):
    if exercise.name == "puzzle_grid_stride":
        pytest.skip("256 threads at any size: what it is about")
    grader, threads = importlib.import_module("gpulessons.grader.check"), []
    monkeypatch.setattr(grader, "refuse_races", lambda launches: threads.extend(
        launch.threads for launch in launches))  # fmt: skip
    assert run(exercise, exercise.solution).passed
    assert max(threads) > 1024


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_the_solution_passes(exercise):
    verdict = run(exercise, exercise.solution)
    assert verdict.passed, verdict
    assert "float64" not in verdict.ran


@pytest.mark.parametrize(("exercise", "answer"), OTHERWISE, ids=each(OTHERWISE))
def test_a_right_answer_written_otherwise_passes_too(exercise, answer):
    what, instead, *praise = answer
    verdict = edited(exercise, what, instead)
    assert verdict.passed, verdict
    assert all(words in verdict.ran for words in praise), verdict


@pytest.mark.parametrize(("exercise", "what", "instead", "reason"), MISTAKES, ids=each(MISTAKES))
def test_each_mistake_is_refused_for_its_own_reason(exercise, what, instead, reason):
    verdict = edited(exercise, what, instead)
    assert not verdict.passed, "a wrong answer was accepted"
    assert reason in verdict.trouble, verdict


@pytest.mark.parametrize(
    ("name", "what", "instead", "hint"),
    [
        ("leaky_relu_kernel", "cuda.grid(1)", "cuda.threadIdx.x", "every block repeats these"),
        ("leaky_relu_kernel", "if i < x.size:", "for i in range(x.size):", "elements of its own"),
        ("four_each", "first + step * cuda.gridsize(1)", "first + step", "elements of its own"),
        ("block_total", "cuda.atomic.add(out, 0, part[0])", "out[0] += part[0]", "or an atomic"),
        ("fuse_pointwise", "out[0], out[1]", "out[0], out", "out, which is 2 arrays"),
        ("fuse_pointwise", "out[0], out[1]", "out[0], out[1, 0]", "out, which is 2 arrays"),
    ],
)
def test_the_hint_fits_the_mistake(name, what, instead, hint):
    assert hint in edited(getattr(exercises, name), what, instead).hint


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_it_says_what_it_is_in_one_line(exercise):
    assert len(exercise.task.splitlines()) == 1
    assert repr(exercise) == f"{exercise.name}: {exercise.task}"
    assert len(ANSWERS[exercise].wrong) >= 4


@pytest.mark.parametrize("answer", ["8 MB", None, float("nan"), float("inf"), [8_000_000]])
@pytest.mark.parametrize("name", ["bytes_saved", "kitchen_math"])
def test_what_is_no_number_is_refused_in_a_sentence(name, answer):
    assert "is not a number" in check(getattr(exercises, name), answer).trouble


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=named)
def test_an_attempt_that_raises_is_a_verdict_and_shows_its_own_line(exercise):
    verdict = run(exercise, "def broken(*arguments):\n    raise ZeroDivisionError('mine')\n")
    assert "ZeroDivisionError: mine" in verdict.trouble
    assert "raise ZeroDivisionError" in verdict.hint or not verdict.hint.startswith("line ")


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=named)
def test_what_is_no_function_and_a_wrong_signature_are_refused_as_such(exercise):
    assert "None is not a function" in check(exercise, None).trouble
    verdict = run(exercise, "def mine():\n    return 1\n")
    assert "mine() takes 0 positional arguments" in verdict.trouble
    assert not verdict.hint.startswith("line ")


@pytest.mark.parametrize(
    ("name", "where", "own"),
    [
        ("one_forward_one_backward", "gpulessons.workers.schedules", "one_forward_one_backward"),
        ("stable_softmax", "gpulessons", "softmax"),
        ("inputs_first", "gpulessons", "lstm_sequence"),
        ("break_even_hours", "gpulessons.money.renting", "Plan"),
    ],
)
def test_the_course_s_own_answer_is_nobody_s(name, where, own):
    exercise = getattr(exercises, name)
    borrowed = f"from {where} import {own} as theirs\n"
    for mine in ("mine = theirs\n", "def mine(*inputs):\n    return theirs(*inputs)\n"):
        assert "the course's own" in run(exercise, borrowed + mine).trouble


@pytest.mark.parametrize(
    ("name", "before", "own"),
    [
        ("break_even_hours", "from gpulessons import money", "money.Plan"),
        ("break_even_hours", "import gpulessons.money.renting", "gpulessons.money.renting.Plan"),
        ("stable_softmax", "import gpulessons", "gpulessons.softmax"),
    ],
)
def test_the_course_s_own_answer_is_nobody_s_by_attribute_either(name, before, own):
    mine = f"{before}\ndef mine(*inputs):\n    return {own}(*inputs)\n"
    assert f"{own} is the course's own" in run(getattr(exercises, name), mine).trouble


WAYS = {
    "inside": "def mine(x):\n    from gpulessons import softmax\n    return softmax(x)\n",
    "by a helper": "from gpulessons import softmax\ndef helper(x):\n    return softmax(x)\n"
    "def mine(x):\n    return helper(x)\n",
    "by name": "import gpulessons\n"
    "def mine(x):\n    return getattr(gpulessons, 'soft' + 'max')(x)\n",
    "by partial": "from functools import partial\nfrom gpulessons import softmax\n"
    "helper = partial(softmax)\ndef mine(x):\n    return helper(x)\n",
    "its function": "from gpulessons import softmax\nhelper = softmax.function\n"
    "def mine(x):\n    return helper(x)\n",
    "a version": "from gpulessons import softmax\nhelpers = [softmax.versions['NumPy']]\n"
    "def mine(x):\n    return helpers[0](x)\n",
    "by map": "from gpulessons import softmax\nhelpers = [softmax]\n"
    "def mine(x):\n    return next(map(helpers[0], [x]))\n",
}


OBJECTS = {
    "partial": "from functools import partial\nmine = partial(theirs)\n",
    "Mine": "class Mine:\n    def __call__(self, *inputs):\n        return theirs(*inputs)\n"
    "mine = Mine()\n",
    "wraps": "from functools import wraps\n@wraps(theirs)\ndef mine(*given):\n"
    "    return theirs(*given)\n",
}


@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize(
    ("name", "borrowed"),
    [
        ("stable_softmax", "from gpulessons import softmax as theirs\n"),
        ("im2col_index", "from gpulessons import exercises\ntheirs = exercises.im2col_index.op\n"),
    ],
)
def test_the_course_s_own_answer_in_a_wrapping_is_nobody_s(name, borrowed, kind):
    verdict = run(getattr(exercises, name), borrowed + OBJECTS[kind])
    assert "the course's own" in verdict.trouble


@pytest.mark.parametrize("mine", [
    "import numpy as np\nmine = np.median\n",
    "import numpy as np\nfrom functools import partial\nmine = partial(np.quantile, q=0.5)\n",
    "import numpy as np\nclass Mine:\n    def __call__(self, times):\n"
    "        return np.median(times)\nmine = Mine()\n",
])  # fmt: skip
def test_a_right_answer_need_not_be_a_def(mine):
    assert run(exercises.typical_time, mine).passed


@pytest.mark.parametrize("kind", ["partial", "Mine"])
@pytest.mark.parametrize("name", ["output_size", "stable_softmax", "vectorize"])
def test_a_right_answer_in_a_wrapping_is_right(name, kind):
    exercise = getattr(exercises, name)
    theirs = re.sub(r"def my_\w+", "def theirs", exercise.solution)
    assert run(exercise, theirs + OBJECTS[kind]).passed


@pytest.mark.parametrize("kind", ["partial", "wraps"])
def test_a_librarys_answer_in_a_wrapping_is_somebody_else_s(kind):
    theirs = "def theirs(x):\n    import torch\n    return torch.from_numpy(x).softmax(1)\n"
    found = run(exercises.stable_softmax, theirs + OBJECTS[kind])
    assert "somebody else's softmax" in found.trouble


@pytest.mark.parametrize("way", WAYS)
def test_the_course_s_own_answer_is_nobody_s_by_whatever_way_it_comes(way):
    exercise = exercises.stable_softmax
    trouble = run(exercise, WAYS[way]).trouble
    assert "softmax is the course's own" in trouble or (way == "inside" and "somebody" in trouble)


@pytest.mark.parametrize(
    ("name", "part"),
    [("break_even_calls", "due"), ("output_size", "walk"), ("which_limit", "bounds")],
)
def test_a_part_of_the_judge_is_no_answer(name, part):
    judge = f"from gpulessons import exercises\nhelpers = [exercises.{name}.lesson.{part}]\n"
    mine = "def mine(*given):\n    return helpers[0](*given)\n"
    assert f"{part} is the course's own" in run(getattr(exercises, name), judge + mine).trouble


def test_nobody_reads_the_judge_s_cases():
    mine = (
        "from gpulessons import exercises\n"
        "def mine(figures):\n"
        "    cases = exercises.judge_a_claim.lesson.CASES\n"
        "    return next(word for given, word, _ in cases if list(given) == figures)\n"
    )
    assert "what it is judged by" in run(exercises.judge_a_claim, mine).trouble


def test_a_kernel_of_the_course_is_nobody_s_own():
    mine = (
        "from gpulessons.ops.activations import relu_kernel\n"
        "def mine(x):\n"
        "    out = cuda.device_array_like(x)\n"
        "    relu_kernel[(x.size + 127) // 128, 128](x, out)\n"
        "    return out\n"
    )
    assert "relu_kernel is the course's own" in run(exercises.four_each, mine).trouble


def test_a_method_with_the_name_of_an_op_is_not_that_op():
    """A notebook may call an op `stack`; np.stack is NumPy's all the same."""
    exercise = exercises.inputs_first
    assert "np.stack" in exercise.solution
    assert run(exercise, "from gpulessons import matmul as stack\n" + exercise.solution).passed


def test_an_exercise_is_its_value_and_not_the_file_that_it_stands_in():
    assert all(isinstance(exercise, Exercise) for exercise in EXERCISES)
    assert exercises.NAMES == [exercise.name for exercise in EXERCISES] == dir(exercises)
    with pytest.raises(AttributeError, match="no exercise 'none_such'; there are agree, along"):
        exercises.none_such  # noqa: B018


def test_every_answer_belongs_to_an_exercise():
    files = {path.stem for path in (ROOT / "tests" / "exercises" / "answers").glob("[!_]*.py")}
    assert files == set(exercises.NAMES)


def test_a_stub_is_a_cell_of_a_notebook_word_for_word():
    books = [json.loads(path.read_text("utf-8"))["cells"] for path in NOTEBOOKS]
    cells = {"".join(cell["source"]).strip() for book in books for cell in book}
    assert [e.name for e in EXERCISES if e.stub.strip() not in cells] == []


def test_an_exercise_is_loaded_when_it_is_asked_for_and_alone():
    lines = (
        "import sys",
        "from gpulessons import exercises",
        "assert not {'numpy', 'numba', 'gpulessons.grader.check'} & set(sys.modules)",
        "from gpulessons.exercises import bytes_saved",
        "assert exercises.bytes_saved is bytes_saved and bytes_saved.stub",
        "assert 'gpulessons.exercises.agree' not in sys.modules",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
    assert not done.returncode, done.stderr


def test_nobody_imports_the_file_of_an_exercise_where_its_value_is_meant():
    """Importing gpulessons.exercises.agree itself would put the module where its value belongs."""
    files = [*NOTEBOOKS, *(ROOT / "gpulessons").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    texts = {path: path.read_text("utf-8") for path in files}
    by_path = re.compile(r"^[ \"]*(from|import) gpulessons\.exercises\.\w", re.MULTILINE)
    assert [path.name for path, text in texts.items() if by_path.search(text)] == []
