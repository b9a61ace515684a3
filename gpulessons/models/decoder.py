"""A decoder like those that write today: its shape a real model's, its weights random.

    x ← x + attention(norm(x))     a query for each head; keys and values for fewer (grouped)
    x ← x + down(silu(gate(norm(x))) · up(norm(x)))
    the next token: norm(x) times a matrix with a row for each token it knows

What a step costs hangs on the shape alone, so nothing is trained. Positions (RoPE) are left out:
they add a few operations to each query and key.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import linear, rms_norm, scaled_dot_product_attention, silu


class Shape(NamedTuple):
    """layers; numbers of a token; heads of queries, of keys and values; a feed-forward's inner
    width; words: the tokens that it knows."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    inner: int
    words: int

    @property
    def head(self) -> int:
        return self.width // self.heads

    @property
    def matrices(self) -> dict[str, tuple[int, int]]:
        """{name: (outputs, inputs)} of each layer's."""
        width, inner, cached = self.width, self.inner, self.kv_heads * self.head
        return {"q": (width, width), "k": (cached, width), "v": (cached, width),
                "o": (width, width), "gate": (inner, width), "up": (inner, width),
                "down": (width, inner)}  # fmt: skip

    @property
    def read(self) -> int:
        """Weights that a step reads whole: the layers', and the last matrix."""
        each = sum(outputs * inputs for outputs, inputs in self.matrices.values())
        return self.layers * each + self.words * self.width

    @property
    def cached(self) -> int:
        """Numbers that a token leaves in the cache: a key and a value, in each layer."""
        return 2 * self.layers * self.kv_heads * self.head


LLAMA_2_7B = Shape(32, 4_096, 32, 32, 11_008, 32_000)
LLAMA_3_8B = Shape(32, 4_096, 32, 8, 14_336, 128_256)
LLAMA_3_70B = Shape(80, 8_192, 64, 8, 28_672, 128_256)


class Decoder:
    """Random weights of a shape, and room for the keys and values of so many tokens."""

    def __init__(self, shape: Shape, batch: int = 1, room: int = 256) -> None:
        torch.manual_seed(0)
        self.shape, self.used = shape, 0
        self.words = torch.randn(shape.words, shape.width)
        self.layers = [
            {name: torch.empty(size).uniform_(-1, 1) * size[1] ** -0.5
             for name, size in shape.matrices.items()} for _ in range(shape.layers)
        ]  # fmt: skip
        self.cache = torch.zeros(shape.layers, 2, batch, shape.kv_heads, room, shape.head)

    def step(self, tokens: Tensor) -> Tensor:
        """Scores of the next token, (batch, words), after these: (batch, new ones).

        All of a prompt at once, while nothing is cached; from then on one for each sequence.
        """
        new = tokens.shape[1]
        x = self.words[tokens]
        for layer, kept in zip(self.layers, self.cache, strict=True):
            x = x + self.attend(normed(x), layer, kept)
            wide = normed(x)
            inner = silu(linear(wide, layer["gate"])) * linear(wide, layer["up"])
            x = x + linear(inner, layer["down"])
        self.used += new
        return linear(normed(x[:, -1]), self.words)

    def attend(self, x: Tensor, layer: dict[str, Tensor], kept: Tensor) -> Tensor:
        """Each new token asks all kept ones, and itself. kept: (2, batch, heads, room, head)."""
        batch, new, width = x.shape
        q, k, v = (linear(x, layer[name]).view(batch, new, -1, self.shape.head).transpose(1, 2)
                   for name in "qkv")  # fmt: skip
        end = self.used + new
        kept[0, :, :, self.used : end], kept[1, :, :, self.used : end] = k, v
        seen = scaled_dot_product_attention(q, kept[0, :, :, :end], kept[1, :, :, :end],
                                            is_causal=new > 1, enable_gqa=True)  # fmt: skip
        return linear(seen.transpose(1, 2).reshape(batch, new, width), layer["o"])

    @torch.inference_mode()
    def write(self, prompt: Tensor, count: int) -> Tensor:
        """So many tokens after a prompt, (batch, count): always the likeliest."""
        found = [self.step(prompt).argmax(1, keepdim=True)]
        while len(found) < count:
            found.append(self.step(found[-1]).argmax(1, keepdim=True))
        return torch.cat(found, 1)


def normed(x: Tensor) -> Tensor:
    return rms_norm(x, x.shape[-1:])
