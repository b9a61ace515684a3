"""A Huffman tree's picture has a leaf for each word, and shows the way to one of them."""

import pytest

from gpulessons.illustrations import huffman as draw
from gpulessons.ops.huffman import huffman
from gpulessons.plots.picture import VERMILLION

WORDS = ["the", "sat", "cat", "rat"]


@pytest.fixture
def tree():
    return huffman([4, 3, 2, 1])


def test_every_word_is_at_a_leaf_as_deep_as_its_path_is_long(tree):
    picture = draw.drawn(tree, WORDS)
    leaves = {text.get_text(): text for text in picture.axes.texts if text.get_text() in WORDS}
    depths = [round(-leaves[word].get_position()[1]) for word in WORDS]
    assert depths == tree.depths.tolist() == [1, 2, 3, 3]
    assert picture.alt.startswith("“the”: 1 decision. “cat”: 3 decisions. A tree")
    assert picture.alt.endswith("the: 1 decision; sat: 2 decisions; cat: 3 decisions; "
                                "rat: 3 decisions.")  # fmt: skip


def test_the_way_to_a_word_is_colored_and_no_other(tree):
    picture = draw.drawn(tree, WORDS, "sat")
    colored = [line for line in picture.axes.lines if line.get_color() == VERMILLION]
    assert len(colored) == 2
    steps = ", ".join(map(str, tree.turns[tree.starts[1] : tree.starts[2]]))
    assert picture.alt.startswith(f"“sat” is {steps}: 2 decisions. “the” takes 1. A tree")
    assert draw.drawn(tree, WORDS, "the").alt.startswith("“the” is 0: 1 decision. “cat” takes 3.")
    assert {t.get_text() for t in picture.axes.texts if t.get_color() == VERMILLION} >= {"sat"}
    assert not [line for line in draw.drawn(tree, WORDS).axes.lines
                if line.get_color() == VERMILLION]  # fmt: skip


def test_a_word_that_is_not_there_is_named(tree):
    with pytest.raises(ValueError, match="no leaf 'dog'; it has the, sat"):
        draw.drawn(tree, WORDS, "dog")


def test_a_node_stands_above_the_middle_of_its_children():
    places = draw.layout([[1, ~0], [~1, ~2]])
    assert places == {~1: (0, -2), ~2: (1, -2), 1: (0.5, -1), ~0: (2, -1), 0: (1.25, 0)}


def test_the_rows_read_are_those_that_were_counted():
    picture = draw.rows_read({1_000: 7.5, 1_000_000: 15.25})
    assert picture.alt.startswith("1,000,000 classes: 1,000,000 rows without a tree, 15.2 ")
    assert [list(line.get_ydata()) for line in picture.axes.lines] == [
        [1_000, 1_000_000], [7.5, 15.25],
    ]  # fmt: skip
