"""An LSTM that learns to write, letter by letter, with the course's own ops.

    h = lstm(letters so far);   p = softmax(h wᵀ + b);   loss = −log p[the next letter]

The text is cut into strips that are read side by side, a few letters at a time. The memory is
carried on from one piece to the next; the gradient stops where a piece begins. Karpathy, "The
Unreasonable Effectiveness of Recurrent Neural Networks", 2015.

    text = prose()
    for epoch in train(Writer("Numba", text), text):
        print(epoch)
"""

from collections import Counter
from dataclasses import dataclass
from math import log
from pathlib import Path
from time import perf_counter

import numpy as np

from gpulessons import units
from gpulessons.hardware.pools import threads
from gpulessons.ops.lstm_backward import lstm_backward
from gpulessons.ops.lstm_cell import lstm_cell
from gpulessons.ops.lstm_sequence import lstm_sequence
from gpulessons.ops.optimizer_step import adam_step
from gpulessons.ops.softmax_layer import softmax_layer, softmax_layer_backward

from .digits import TOOLKITS, chosen, random_layer

OPS = (lstm_sequence, softmax_layer, softmax_layer_backward, lstm_backward, adam_step)
STRIPS, PIECE = 16, 32  # strips read side by side, letters at a time


def prose():
    """Four books of the King James Version, a verse a line, in lower case. In king_james.txt stands
    where the text is from, and why it is in the public domain.
    """
    lines = Path(__file__).with_name("king_james.txt").read_text(encoding="utf-8").splitlines()
    return "\n".join(line.lower() for line in lines if not line.startswith("#"))


def loss_by_counting(text, before):
    """The mean loss of whoever knows only how often each letter follows the `before` letters before
    it in this very text: the same unit as a Writer's, and the least that so short a memory allows.
    """
    ends = range(before, len(text))
    whole = Counter(text[i - before : i + 1] for i in ends)
    begun = Counter(text[i - before : i] for i in ends)
    return sum(n * log(begun[part[:-1]] / n) for part, n in whole.items()) / len(ends)


class Writer:
    """One LSTM layer and a softmax over the letters of a text, on a toolkit's backend.

    toolkit: one of `digits.TOOLKITS` that has all of OPS: any but CUDA. The same seed gives the
    same first weights on every toolkit.
    """

    def __init__(self, toolkit, text, hidden=128, seed=0):
        self.letters, self.hidden = np.array(sorted(set(text))), hidden
        self.versions = {op.name: chosen(op, toolkit) for op in OPS}
        self.toolkit, self.backend = toolkit, TOOLKITS[toolkit][1]
        first = self.first_weights(np.random.default_rng(seed))
        self.parameters = [self.backend.put(p) for p in first]
        self.moments = [(self.zeros(p.size), self.zeros(p.size)) for p in first]
        self.steps = 0

    def first_weights(self, rng):
        """w, u and b of the LSTM, then w and b of the last layer."""
        letters, gates = len(self.letters), 4 * self.hidden
        (w, b), (u, _) = random_layer(rng, letters, gates), random_layer(rng, self.hidden, gates)
        b[self.hidden : 2 * self.hidden] = 1  # at first, keep what is remembered
        return w, u, b, *random_layer(rng, self.hidden, letters)

    def zeros(self, *shape):
        return self.backend.put(np.zeros(shape, np.float32))

    def run(self, op, *inputs):
        return self.versions[op.name](*inputs)

    def learn(self, codes, targets, h, c):
        """One piece of every strip. codes: which letters, targets: which come next: (steps, strips)
        of integers; h, c: where the piece before ended. Returns the mean loss, and the new h and c.
        """
        w, u, b, w_out, b_out = self.parameters
        x = self.backend.put(np.eye(len(self.letters), dtype=np.float32)[codes])
        labels = self.backend.put(targets.ravel().astype(np.int32))
        hs, new_c = self.run(lstm_sequence, x, h, c, w, u, b)
        rows = hs.reshape(-1, self.hidden)
        p = self.run(softmax_layer, rows, w_out, b_out)
        dh, *d_out = self.run(softmax_layer_backward, rows, w_out, p, labels)
        *_, dw, du, db = self.run(lstm_backward, x, h, c, w, u, b, dh.reshape(hs.shape))
        self.move(dw, du, db, *d_out)
        right = self.backend.get(p)[np.arange(targets.size), targets.ravel()]
        return -np.log(right).mean(), hs[-1], new_c

    def move(self, *gradients):
        """Adam, which does not care that the gradients are of a sum and not of a mean."""
        self.steps += 1
        for n, (old, gradient) in enumerate(zip(self.parameters, gradients, strict=True)):
            flat = old.reshape(-1), gradient.reshape(-1), *self.moments[n]
            new, *self.moments[n] = self.run(adam_step, *flat, self.steps)
            self.parameters[n] = new.reshape(old.shape)

    def write(self, count, start="the ", seed=0):
        """`start`, and `count` letters more, each drawn by its probability given all before it."""
        if not start:
            raise ValueError("A text has a letter to start from: give `start` at least one.")
        *layer, w_out, b_out = map(self.backend.get, self.parameters)
        rng, codes = np.random.default_rng(seed), list(self.codes(start))
        h = c = np.zeros((1, self.hidden), np.float32)
        for step in range(len(codes) + count - 1):
            x = np.eye(len(self.letters), dtype=np.float32)[codes[step : step + 1]]
            h, c = lstm_cell(x, h, c, *layer)
            if step == len(codes) - 1:
                p = softmax_layer(h, w_out, b_out)[0].astype(np.float64)
                codes.append(rng.choice(len(p), p=p / p.sum()))
        return "".join(self.letters[codes])

    def codes(self, text):
        """Which of the letters each letter of the text is: (length,) of integers."""
        if strange := set(text) - set(self.letters):
            raise ValueError(f"The writer never saw {sorted(strange)}: make it with this text.")
        return np.searchsorted(self.letters, list(text))


@dataclass(frozen=True)
class Epoch:
    """Where a writer stands after reading its text so many times."""

    number: int
    loss: float  # the mean over the letters of this epoch; of blind guessing, log of their number
    seconds: float  # of training so far
    sample: str  # what it writes now

    def __repr__(self):
        took = units.seconds(self.seconds)
        return f"epoch {self.number}: loss {self.loss:.3f}, {took}\n{self.sample}"


def train(writer, text, epochs=10, sample=200):
    """Yield an Epoch each time the text has been read. sample: how many letters to write then."""
    codes, seconds = strips(writer.codes(text)), 0.0
    next(read(Writer(writer.toolkit, text, writer.hidden), codes))  # what must compile, does
    for number in range(1, epochs + 1):
        start = perf_counter()
        losses = list(read(writer, codes))
        seconds += perf_counter() - start
        yield Epoch(number, float(np.mean(losses)), seconds, writer.write(sample))


def read(writer, codes):
    """Yield the mean loss of each piece, as the writer learns from it."""
    h, c = writer.zeros(STRIPS, writer.hidden), writer.zeros(STRIPS, writer.hidden)
    for start in range(0, len(codes) - PIECE, PIECE):
        now, following = codes[start : start + PIECE], codes[start + 1 : start + PIECE + 1]
        with threads(1):  # so small a piece is done before a second core has woken up
            loss, h, c = writer.learn(now, following, h, c)
        yield loss


def strips(codes):
    """(length, strips): the text cut into equal strips, side by side; what is over is left out."""
    if len(codes) < STRIPS * (PIECE + 1):
        raise ValueError(f"A text to learn from has at least {STRIPS * (PIECE + 1)} letters.")
    length = len(codes) // STRIPS
    return codes[: length * STRIPS].reshape(STRIPS, length).T
