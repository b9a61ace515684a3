"""Verdicts drawn: a mark for each, told apart by shape and filling alone."""

from dataclasses import replace

import pytest

from gpulessons import claims
from gpulessons.claims.claim import Finding, Findings
from gpulessons.illustrations import verdicts as draw


def findings(*words, machine="one"):
    found = tuple(
        Finding(number, "A claim.", "A", ("02",), "A test.", word, "Why.", (), "Nothing.")
        for number, word in enumerate(words, start=1)
    )
    return Findings(found, machine, "2026-01-01", "0.1.0")


def test_each_verdict_has_a_look_of_its_own():
    looks = {(marker, fill) for marker, fill in draw.MARKS.values()}
    assert set(draw.MARKS) == set(claims.VERDICTS)
    assert len(looks) == len(draw.MARKS)


def test_a_row_for_each_machine_and_a_mark_for_each_claim():
    one, other = findings(*claims.VERDICTS), findings(*claims.VERDICTS[::-1], machine="other")
    axes = draw.table(one, other).axes
    marks = [line for line in axes.lines if len(line.get_xdata())]
    assert len(marks) == 8
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "one\n2026-01-01", "other\n2026-01-01",
    ]  # fmt: skip


def test_the_title_counts_and_says_where_machines_differ():
    one = findings("holds", "refuted")
    assert draw.table(one).alt.startswith("Of 2 claims 1 holds, 1 is refuted.")
    assert "agree" in draw.table(one, replace(one, machine="other")).alt
    assert "Not everywhere the same: 2." in draw.table(one, findings("holds", "holds")).alt


def test_the_alt_text_names_every_claim_with_its_verdict():
    alt = draw.table(findings("holds", "refuted", "holds")).alt
    assert "holds: 1, 3; refuted: 2." in alt


def test_without_findings_it_says_where_some_are():
    with pytest.raises(ValueError, match=r"claims\.judge"):
        draw.table()


def test_the_list_has_every_claim_and_links_to_its_notebooks():
    listed = draw.Listed(claims.CLAIMS)
    page, text = listed._repr_html_(), repr(listed)
    links = sum(len(each.notebooks) for each in claims.CLAIMS.values())
    assert page.count("<li>") == len(claims.CLAIMS) and page.count("<a ") == links
    assert '<a href="02_activations.ipynb">02</a>' in page and listed.linked("99") == "99"
    assert all(f"{each.words[:30]}" in text for each in claims.CLAIMS.values())


def test_the_claims_by_part_say_which_are_about_gpus():
    picture = draw.subjects(claims.CLAIMS)
    full = [line.get_xdata()[0] for line in picture.axes.lines if line.get_fillstyle() == "full"]
    assert sorted(full) == [n for n, each in sorted(claims.CLAIMS.items()) if each.about_gpus]
