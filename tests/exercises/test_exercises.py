"""Every exercise: its stub is not yet, its solution passes, each mistake has its own refusal."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from answers import RIGHT, WRONG, attempt
from gpulessons import exercises
from gpulessons.exercises.asking import solved
from gpulessons.grader.answers import alike, plain

ROOT = Path(__file__).parents[2]
BEFORE = "import numpy as np\nfrom numba import cuda\n"  # what earlier cells of a notebook imported
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def run(exercise, text):
    from gpulessons import check

    return check(exercise, attempt(BEFORE + text))


def edited(exercise, what, instead):
    assert what in exercise.solution, "the edit no longer fits the solution"
    return run(exercise, exercise.solution.replace(what, instead))


@pytest.mark.parametrize("name", exercises.NAMES)
def test_stub_solution_and_other_answers(name):
    exercise = getattr(exercises, name)
    assert exercise.name == name and len(exercise.task.splitlines()) == 1

    verdict = run(exercise, exercise.stub)
    assert verdict.untouched and not verdict.passed, verdict
    assert "###" not in exercise.stub + exercise.solution

    verdict = run(exercise, exercise.solution)
    assert verdict.passed and "float64" not in verdict.ran, verdict

    for what, instead, *praise in RIGHT.get(name, ()):
        verdict = edited(exercise, what, instead)
        assert verdict.passed, verdict
        assert all(words in verdict.ran for words in praise), verdict

    mistakes = [
        (what, instead, said) for said, what, instead in getattr(exercise.lesson, "mistakes", ())
    ]
    assert len(mistakes) <= 3 <= len(mistakes + WRONG.get(name, []))
    for what, instead, reason in mistakes + WRONG.get(name, []):
        verdict = edited(exercise, what, instead)
        assert not verdict.passed, f"a wrong answer was accepted: {instead}"
        assert reason in verdict.trouble, verdict


BY_HAND = {  # what the solution, which is the truth of these exercises, is given and must answer
    "group_by_expert": ((np.array([1, 0, 1]), 3), ([1, 0, 2], [1, 3, 3])),
    "join_parts": (((2.0, 1.0, np.array([3.0])), (2.0, 2.0, np.array([1.0]))), (2.0, 3.0, [4.0])),
    "join_steps": (((2.0, 1.0), (3.0, 5.0)), (6.0, 8.0)),
    "online_update": ((2.0, 1.0, 3.0), (3.0, 1 + math.exp(-1))),
    "outer_step": ((np.array([1.0]), np.array([[0.0], [0.5]]), np.array([1.0])),
                   ([-0.5645], [1.65])),
    "speed_up": ((1.0, 8.0, 0.25, 8.0, 2), 0.5),
    "surely_behind": ((2.0, 24_576, 1e9), 2.0),
    "shared_step": ((4, 2.0, 0.5, 8, 70, 2), 2 + 8 * (0.5 * 78 / 72) / 4),
    "split_headline": (([2, 6, 3],), [2, 3, 0.5]),
    "equal_speed": ((30, [(20, 100), (40, 60)], [(10, 400), (30, 300)]), 300 / 80),
    "paid_by_the_day": ((20_000, 30, 155_000, 8), 8 * 30 / 20),
}  # fmt: skip


def test_a_solution_that_is_the_truth_is_right_by_hand():
    for name, (given, expected) in BY_HAND.items():
        got = solved(getattr(exercises, name).text)(*given)
        assert alike(plain(got), plain(expected)), f"{name}: {got}"


def test_a_gpu_of_llama_has_its_part_of_all_bytes_and_of_all_work():
    budget = exercises.lay_it_out.lesson.budget
    held, step = budget(8, 16, 128)  # 8 thin stages on a GPU
    own, kept = 405e9 / 128, 6 * 16_384 + 2 * 1_024 + 3 * 53_248
    assert [size / own for size in list(held.values())[:3]] == [2, 4 / 8 + 4 / 128, 12 / 128]
    assert held["activations"] == 126 * 2_048 * 8_192 * 2 * kept / 16_384  # all is under way
    assert budget(16, 8, 128)[0]["activations"] / held["activations"] == (8 + 7 / 16) / 16
    assert step["arithmetic"] == pytest.approx(6 * 405e9 * 2_048 * 8_192 / 16_384 / 989e12)
    each = 14 * 3.4e-6 + 14 / 8 * 2 * 8_192 * 16_384 / 450e9
    assert step["sums"] == pytest.approx(4 * 126 * each)
    assert step["bubble"] / (step["arithmetic"] + step["sums"]) == pytest.approx(15 / 8 / 16)


def test_every_answer_belongs_to_an_exercise():
    assert dir(exercises) == exercises.NAMES
    assert {*WRONG, *RIGHT} <= {*exercises.NAMES}


def test_a_stub_is_a_cell_of_a_notebook_word_for_word():
    books = [json.loads(path.read_text("utf-8"))["cells"] for path in NOTEBOOKS]
    cells = {"".join(cell["source"]).strip() for book in books for cell in book}
    stubs = {name: getattr(exercises, name).stub.strip() for name in exercises.NAMES}
    assert [name for name, stub in stubs.items() if stub not in cells] == []


def test_a_stub_is_known_by_its_code_alone():
    exercise = exercises.guard
    told = exercise.stub.replace("# Your turn", "# My turn")
    assert run(exercise, told).untouched
    assert run(exercise, f"{exercise.stub}\n{exercise.solution}").passed  # the stub left above it
    assert not run(exercise, told.replace("256", "128")).untouched


LAUNCHERS = re.compile(r"(my_\w+)\[(.*), (\d+|\(\d+, \d+\)|threads)\]\(")
ONE_BLOCK = """
def one_block(blocks, threads):
    blocks, threads = (tuple(n) if hasattr(n, "__len__") else (n,) for n in (blocks, threads))
    pairs = zip((*blocks, 1, 1), (*threads, 1, 1))
    return tuple(b * t for b, t in pairs)[:max(len(blocks), len(threads))]

"""


def test_a_single_block_for_everything_is_refused():
    """A block has 1,024 threads: every exercise tries a size that needs more."""
    for name in exercises.NAMES:
        exercise = getattr(exercises, name)
        text, count = LAUNCHERS.subn(r"\1[1, one_block(\2, \3)](", exercise.solution)
        if not count:
            continue
        verdict = run(exercise, ONE_BLOCK + text)
        assert "1,024" in verdict.trouble or "outside its shape" in verdict.trouble, verdict


def test_what_is_no_number_no_function_or_takes_other_arguments_is_refused_in_a_sentence():
    from gpulessons import check

    for answer in ("8 MB", None, float("nan"), [102]):
        assert "is not a number" in check(exercises.kitchen_math, answer).trouble
    verdict = check(exercises.kitchen_math, ...)
    assert verdict.untouched and "still '...'" in verdict.trouble
    for name in ("ridge_batch", "online_update"):
        exercise = getattr(exercises, name)
        assert "None is not a function" in check(exercise, None).trouble
        raising = run(exercise, "def mine(*given):\n    raise ZeroDivisionError('mine')\n")
        assert "ZeroDivisionError: mine" in raising.trouble
        assert "raise ZeroDivisionError" in raising.hint
        other = run(exercise, "def mine():\n    return 1\n")
        assert "mine() takes 0 positional arguments" in other.trouble
        assert "its parameters" in other.hint


@pytest.mark.parametrize(
    ("name", "mine"),
    [
        ("inputs_first", "def mine(*given):\n    from gpulessons import lstm_sequence\n"
         "    return lstm_sequence(*given)\n"),
        ("inputs_first", "from gpulessons import lstm_sequence as theirs\ndef mine(*given):\n"
         "    return theirs.versions['NumPy'](*given)\n"),
        ("guard",
         "from gpulessons import relu\nmine = relu.versions['CUDA, a thread per element']\n"),
        ("guard",
         "from gpulessons import relu\n"
         "mine = relu.versions['CUDA, a thread per element'].function\n"),
        ("guard", "from gpulessons.ops.activations import relu_kernel\ndef mine(x):\n"
         "    out = cuda.device_array_like(x)\n    relu_kernel[x.size // 128 + 1, 128](x, out)\n"
         "    return out\n"),
    ],
)  # fmt: skip
def test_the_course_s_own_answer_is_nobody_s(name, mine):
    assert "the course's own" in run(getattr(exercises, name), mine).trouble


def test_an_exercise_is_loaded_when_it_is_asked_for_and_alone():
    lines = (
        "import sys",
        "from gpulessons import exercises",
        "assert not {'numpy', 'numba', 'gpulessons.grader.check'} & set(sys.modules)",
        "from gpulessons.exercises import kitchen_math",
        "assert exercises.kitchen_math is kitchen_math and kitchen_math.stub",
        "assert 'gpulessons.exercises.agree' not in sys.modules",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    with pytest.raises(AttributeError, match="no exercise 'none_such'; there are add_up, agree"):
        exercises.none_such  # noqa: B018


# -- The exercise that is judged by modelled times.


@pytest.mark.nightly
def test_what_is_quick_is_quick_by_a_good_margin_and_what_is_slow_is_far_from_it():
    """So that another figure of a device, or another compiler, does not turn the verdict."""
    exercise = exercises.faster_on_paper
    lesson = exercise.lesson

    def seconds(text):
        return lesson.at_full_size(attempt(BEFORE + text)).seconds

    stub = seconds(exercise.stub)
    assert f"{stub * 1e3:.1f} ms" in exercise.stub
    assert pytest.approx(stub / 10, rel=0.01) == lesson.ENOUGH
    assert seconds(exercise.solution) < lesson.ENOUGH / 1.3
    small_blocks = exercise.stub.replace("255) // 256, 256", "31) // 32, 32")
    assert seconds(small_blocks) > 1.3 * lesson.ENOUGH
    assert "it is bound by latency" in run(exercise, small_blocks).trouble
