"""What the writer of notebook 08 reads, and what counting letters can do."""

import ast
import math
import re
from pathlib import Path

import pytest

import gpulessons
from gpulessons.models import letters


def test_the_prose_is_the_package_s_own_words_and_none_that_a_cut_made():
    """Each of its words stands by itself somewhere in a docstring, not inside code."""
    spoken = set()
    for path in Path(gpulessons.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                words = (ast.get_docstring(node) or "").lower().split()
                spoken |= {word.strip(".,") for word in words}
    read = {word.strip(".,") for word in letters.prose().split()}
    assert read <= spoken
    assert not {"whynot", "putarray", "getarray"} & read


def test_there_is_enough_of_it_and_it_is_letters():
    assert len(letters.prose()) > 50_000
    assert re.fullmatch(r"[a-z' ,.\n]*", letters.prose())


@pytest.mark.parametrize(
    "docstring, kept",
    [
        ("Plain words, and no more.", ["plain words, and no more."]),
        ("Copies put(array) to it. It's kept there.", ["it's kept there."]),
        ("An index:\n\n    not prose at all.\n\nOf two\nlines.", ["of two lines."]),
        ("At 89 it overflows. The why_not of it.", []),
    ],
)
def test_a_sentence_with_code_or_a_number_is_left_out_whole(docstring, kept):
    assert letters.sentences(docstring) == kept


def test_counting_letters_has_the_loss_of_their_frequencies():
    assert letters.loss_by_counting("abababab", 1) == 0
    assert letters.loss_by_counting("aabb" * 100, 0) == pytest.approx(math.log(2))
    four = [letters.loss_by_counting("the cat sat on the mat and the rat sat too " * 9, n)
            for n in range(4)]  # fmt: skip
    assert four == sorted(four, reverse=True)
