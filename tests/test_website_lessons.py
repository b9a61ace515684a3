"""What a notebook becomes as a page of the website."""

import nbformat
import pytest

import website_lessons


def test_a_link_to_a_cell_that_is_gone_is_refused():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", id="one")])
    with pytest.raises(ValueError, match="cells that are not there: two"):
        website_lessons.name_cells(book, {"one", "two"})


def test_cells_of_many_words_are_told_from_numbers():
    assert website_lessons.wordy("<td>3 ms</td>") == "<td>3 ms</td>"
    words = "<b>Embarrassingly parallel: holds.</b> No thread needs another."
    assert website_lessons.wordy(f"<td x>{words}</td>") == f'<td x class="words">{words}</td>'
