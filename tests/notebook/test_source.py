"""source() and solution() show the package's own text, with its place, in colors that hold."""

import html
import re

import numpy as np
import pytest
from numba import njit

from gpulessons import relu, source
from gpulessons.exercises import guard
from gpulessons.notebook.source import highlighted
from gpulessons.ops import activations_more, bias_activation, common, copy


def plain(page):
    """What is left when tags and styles are stripped."""
    return html.unescape(re.sub(r"<[^>]+>", "", page))


def test_a_function_shows_as_it_stands_in_its_file():
    text = source(common.torch_call)
    assert (
        text.text.startswith("def torch_call(path, *arguments, **options):\n")
        and "attrgetter(path)(torch)" in text.text
    )
    assert re.search(r"ops/common\.py, line \d+", text.place)
    assert repr(text) == f"# {text.place}\n{text.text}"


def test_the_place_is_the_line_where_it_stands():
    line = int(source(common.exp32).place.rpartition(" ")[2])
    with open(common.__file__, encoding="utf-8") as file:
        assert "@njit" in file.read().splitlines()[line - 1]


@pytest.mark.parametrize(
    "thing, first",
    [
        (copy.copy_kernel, "@cuda.jit\ndef copy_kernel(x, out):"),
        (
            relu.versions["CUDA, a thread per element"],
            '@relu.version("CUDA, a thread per element", on=gpu)\ndef launch',
        ),
        (relu, "@op("),
        (bias_activation.bias_gelu.versions["Numba, fused"], "def fused_loop(x, b, out):"),
        (common.tanh32, "@njit(**SERIAL)\ndef tanh32(v):"),
        (plain, "def plain(page):"),
        (guard, '"""The first kernel'),
    ],
    ids=[
        *("kernel", "version", "op", "compiled version", "compiled function", "a learner's own"),
        "exercise",
    ],
)
def test_what_was_made_of_a_function_shows_the_function(thing, first):
    assert source(thing).text.startswith(first)


def test_as_html_with_styles_stripped_it_is_the_same_text():
    text = source(activations_more.gelu_loop)
    assert text.text.strip() in plain(text._repr_html_())
    assert text.place in plain(text._repr_html_())


def test_markup_in_a_source_is_shown_and_not_obeyed():
    assert plain(highlighted('x = "<b>bold</b>" & y < z')).strip() == 'x = "<b>bold</b>" & y < z'
    assert "<b>" not in highlighted('x = "<b>bold</b>"')


def contrast(color, gray):
    channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    light, dark = sorted((luminance(channels), luminance(np.full(3, gray))), reverse=True)
    return light / dark


def luminance(channels):
    """Of an sRGB color, as the Web Content Accessibility Guidelines define it, plus their 0.05."""
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722) + 0.05


@pytest.mark.parametrize("thing", [len, 5, "relu", np.add], ids=repr)
def test_what_has_no_source_is_refused_in_a_sentence(thing):
    with pytest.raises(TypeError, match=r"The source of .* cannot be found \(.*\)\.$"):
        source(thing)


def test_a_compiled_function_of_the_learners_shows_too():
    assert source(njit(contrast)).text.startswith("def contrast(color, gray):")


