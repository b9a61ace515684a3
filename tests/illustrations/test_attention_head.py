"""The picture of one head: its shares are the op's, and what it says of a token is that row."""

import numpy as np
import pytest

from gpulessons import attention, softmax
from gpulessons.illustrations.attention_head import head, shares_of

WORDS = ["a", "cat", "sat", "on"]
q, k, v = np.random.default_rng(0).standard_normal((3, 4, 2))


def test_its_shares_mix_the_values_to_what_the_op_returns():
    (result,) = attention(q[None], k[None], v[None], False)
    assert shares_of(q, k) @ v == pytest.approx(result)
    assert shares_of(q, k) == pytest.approx(softmax(q @ k.T / np.sqrt(2)))


@pytest.mark.parametrize("token", range(4))
def test_a_token_s_row_of_shares_is_in_the_picture_and_its_largest_in_the_title(token):
    row = shares_of(q, k)[token]
    picture = head(WORDS, q, k, v, token)
    words = [text.get_text() for text in picture.axes.texts]
    assert [word for word in words if word.isdigit()] == [f"{100 * share:.0f}" for share in row]
    most = row.argmax()
    assert picture.alt.startswith(f"Token {token}, “{WORDS[token]}”, takes {row[most]:.0%} of the "
                                  f"value of token {most}, “{WORDS[most]}”")  # fmt: skip
    assert f"cat {row[1]:.0%}" in picture.alt


def test_every_matrix_has_its_shape_beneath_it():
    said = [text.get_text() for text in head(WORDS, q, k, v, 0).axes.texts]
    shapes = dict(text.split("\n") for text in said if " × " in text)
    assert shapes == {
        "q": "4 × 2", "kᵀ": "2 × 4", "scores: q kᵀ / √2": "4 × 4",
        "shares: softmax of each row": "4 × 4", "v": "4 × 2", "result: shares v": "4 × 2",
    }  # fmt: skip
