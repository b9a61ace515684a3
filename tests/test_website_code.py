"""What a file of the package becomes as a page of the website."""

import html
import re

import pytest

import website_code

pytestmark = pytest.mark.nightly

FILE = "gpulessons/ops/activations.py"


def test_every_line_of_a_file_has_a_place_and_its_words():
    shown = website_code.lines(FILE)
    source = website_code.text_of(FILE).splitlines()
    found = re.split(r'<span id="line-(\d+)">', shown)[1:]
    assert [int(number) for number in found[::2]] == list(range(1, len(source) + 1))
    words = re.sub("<[^>]*>", "", dict(zip(found[::2], found[1::2], strict=True))["21"])
    assert html.unescape(words).rstrip().endswith(source[20])


def test_what_a_file_defines_leads_to_its_lines():
    links = re.findall(r'href="#line-(\d+)"><code>(\w+)<', website_code.contents(FILE))
    source = website_code.text_of(FILE).splitlines()
    assert "relu_kernel" in [name for _, name in links]
    assert all(re.match(rf"(def|class) {name}\b", source[int(n) - 1]) for n, name in links)


