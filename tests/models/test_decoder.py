"""The decoder: its cache changes nothing, and named shapes have those models' sizes."""

import pytest
import torch

from gpulessons import evidence
from gpulessons.illustrations import decoding
from gpulessons.models.decoder import LLAMA_2_7B, LLAMA_3_8B, Decoder, Shape

TINY = Shape(layers=2, width=24, heads=6, kv_heads=2, inner=40, words=17)


def test_token_by_token_with_a_cache_it_says_what_it_says_of_the_whole_text():
    text = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    whole = Decoder(TINY, batch=2).step(text)
    decoder = Decoder(TINY, batch=2)
    decoder.step(text[:, :2])
    for n in range(2, 5):
        last = decoder.step(text[:, n : n + 1])
    torch.testing.assert_close(last, whole)
    assert not torch.allclose(last[0], last[1])


def test_it_writes_the_likeliest():
    decoder, prompt = Decoder(TINY, room=8), torch.tensor([[1, 2, 3]])
    written = decoder.write(prompt, 4)
    again = Decoder(TINY).step(torch.cat([prompt, written[:, :3]], 1)).argmax(1)
    assert written.shape == (1, 4) and written[0, 3] == again[0]


def test_the_named_shapes_have_the_published_numbers_of_parameters():
    """6.74 and 8.03 thousand million (Touvron et al. 2023; Llama Team 2024), norms apart."""
    for shape, published in ((LLAMA_2_7B, 6.74e9), (LLAMA_3_8B, 8.03e9)):
        assert abs(shape.read + shape.words * shape.width - published) < 0.005e9
    large = evidence.published("layout")[0].sizes  # of 128 heads of queries, 8 of keys
    shape = Shape(large["layers"], large["width"], 128, 8, large["inner"], 128_256)
    assert shape.read + shape.words * shape.width == pytest.approx(large["parameters"], 0.003)
    assert shape.cached == 2 * large["layers"] * large["keys"]
    decoder = Decoder(TINY)
    assert TINY.read == decoder.words.numel() + sum(
        each.numel() for layer in decoder.layers for each in layer.values())
    assert TINY.cached == 2 * 2 * 2 * 4


def test_a_card_is_bounded_by_bytes_then_by_arithmetic_then_by_room():
    alone, many = (decoding.limits("A100 80 GB", LLAMA_3_8B, batch, 1, 16) for batch in (1, 512))
    assert alone["bytes"] > 50 * alone["arithmetic"] and many["bytes"] < many["arithmetic"]
    assert decoding.limits("A100 80 GB", LLAMA_3_8B, 1, 0, 8)["bytes"] < 0.51 * alone["bytes"]
    with pytest.raises(ValueError, match="do not fit into"):
        decoding.limits("T4", LLAMA_3_8B, 64, 8_192, 16)
    assert "No room: T4, RTX 4090." in decoding.cards(LLAMA_3_8B, 64, 4_096, 16).alt
