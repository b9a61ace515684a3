"""Tables of plain strings: as text their columns stand, as HTML nothing of a cell is markup."""

import pytest

from warplens.tables import Table, aligned, html_table

ROWS = [["relu", "1.5 µs", "<fast>"], ["layer_norm", "2 µs", ""]]


def test_columns_stand_under_each_other_and_no_line_ends_in_spaces():
    assert aligned(iter(ROWS)) == ["relu        1.5 µs  <fast>", "layer_norm  2 µs"]
    assert aligned([]) == []
    with pytest.raises(ValueError):
        aligned([["a"], ["b", "c"]])


@pytest.mark.parametrize("named", [0, 1])
def test_a_row_is_about_its_named_cell_and_all_of_it_is_escaped(named):
    page = html_table("a < b", ["op", "&", "how"], ROWS, named)
    assert page.startswith('<div style="overflow-x: auto"><table><caption>a &lt; b</caption>')
    assert '<th scope="col">&amp;</th>' in page and "<td>&lt;fast&gt;</td>" in page
    assert page.count('<th scope="row"') == 2 and page.count("<td>") == 4
    for row in ROWS:
        assert f">{row[named]}</th>" in page and f"<td>{row[1 - named]}</td>" in page


def test_a_table_reads_as_text_and_as_html_with_its_notes():
    table = Table("Times", ["op", "time", "how"], ROWS, ["a & b", "c"])
    assert repr(table).splitlines()[:2] == ["Times", "op          time    how"]
    assert repr(table).endswith("\na & b\nc")
    assert table._repr_html_().endswith("</table></div><p>a &amp; b<br>c</p>")


def test_a_title_may_be_all_there_is_to_say():
    table = Table("a < b", ("name", "words"), [])
    assert repr(table) == "a < b" and table._repr_html_() == "<p>a &lt; b</p>"
