"""Judges under test: figures that nobody measured, and the verdict that each must give."""

import inspect

from gpulessons.claims import CLAIMS, Figure, Given
from gpulessons.claims.judging import decided


def verdict_of(number, of_gpu=True, **values):
    """The verdict about a claim whose figures have these values; those named gpu… are a GPU's."""
    figures = {
        name: Figure(name, value, of_gpu=of_gpu and name.startswith("gpu"), why="not here")
        for name, value in values.items()
    }
    return decided(CLAIMS[number], figures)


def assert_turns(number, *cases):
    """cases: (figures, the word that they must give). At least two different words."""
    assert len({word for _, word in cases}) > 1, "a verdict that cannot turn is no verdict"
    for figures, word in cases:
        verdict = verdict_of(number, **figures)
        assert verdict.word == word, (figures, verdict)
        assert verdict.why.endswith(".") and "nan" not in verdict.why


def assert_measures_what_is_judged(number):
    """Run the claim's test: it gives the figures that the judge asks for. Returns them."""
    claim = CLAIMS[number]
    figures = dict(claim.measure(Given()))
    assert set(figures) == set(inspect.signature(claim.judge).parameters)
    assert decided(claim, figures).why
    return figures
