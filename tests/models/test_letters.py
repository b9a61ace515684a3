"""The text that the LSTM learns, and how it learns to write."""

import re

import numpy as np
import pytest

from gpulessons.models import letters

TEXT = "the cell keeps what the gates let through, and shows what the gates let out; " * 30


def test_the_book_is_letters_and_says_where_it_is_from():
    text, source = letters.prose(), letters.Path(letters.__file__).with_name("king_james.txt")
    assert len(text) > 50_000 and re.fullmatch(r"[a-z' ,.:;?!()\n]*", text)
    assert text.startswith("now it came to pass in the days when the judges ruled")
    assert "public domain" in source.read_text(encoding="utf-8")[:300]


def test_counting_letters_has_the_loss_of_their_frequencies():
    assert letters.loss_by_counting("ab" * 500, 0) == pytest.approx(np.log(2))
    assert letters.loss_by_counting("ab" * 500, 1) == pytest.approx(0)
    assert letters.loss_by_counting("aab" * 500, 1) == pytest.approx(2 / 3 * np.log(2), rel=1e-2)


@pytest.mark.parametrize(
    "toolkit", ["PyTorch on CPU", pytest.param("Numba", marks=pytest.mark.nightly)]
)
def test_every_toolkit_learns_the_same(toolkit):
    epochs = list(letters.train(letters.Writer(toolkit, TEXT, hidden=16), TEXT, epochs=3))
    want = list(letters.train(letters.Writer("NumPy", TEXT, hidden=16), TEXT, epochs=3))
    for got, reference in zip(epochs, want, strict=True):
        assert abs(got.loss - reference.loss) < 1e-3


@pytest.mark.nightly
def test_a_quarter_of_the_loss_is_soon_gone_and_the_sample_is_of_the_text():
    writer = letters.Writer("NumPy", TEXT, hidden=32)
    first, *_, last = letters.train(writer, TEXT, epochs=40)
    assert first.loss < np.log(len(writer.letters)) + 0.1
    assert last.loss < 0.75 * first.loss
    assert len(last.sample) == len("the ") + 200 and set(last.sample) <= set(TEXT)


def test_an_unknown_letter_and_a_short_text_are_refused():
    writer = letters.Writer("NumPy", TEXT, hidden=4)
    for start, why in (("Q", "never saw"), ("", "at least one")):
        with pytest.raises(ValueError, match=why):
            writer.write(5, start=start)
    with pytest.raises(ValueError, match="at least"):
        list(letters.train(writer, TEXT[:100]))
