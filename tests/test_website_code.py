"""What a file of the package becomes as a page of the website."""

import html
import re

import pytest

import website_code

FILE = "gpulessons/ops/activations.py"


def test_every_line_of_a_file_has_a_place_and_its_words():
    shown = website_code.lines(FILE)
    source = website_code.text_of(FILE).splitlines()
    found = re.split(r'<span id="line-(\d+)">', shown)[1:]
    assert [int(number) for number in found[::2]] == list(range(1, len(source) + 1))
    words = re.sub("<[^>]*>", "", dict(zip(found[::2], found[1::2], strict=True))["91"])
    assert html.unescape(words).rstrip().endswith(source[90])


def test_what_a_file_defines_leads_to_its_lines():
    links = re.findall(r'href="#line-(\d+)"><code>(\w+)<', website_code.contents(FILE))
    source = website_code.text_of(FILE).splitlines()
    assert "relu_kernel" in [name for _, name in links]
    assert all(re.match(rf"(def|class) {name}\b", source[int(n) - 1]) for n, name in links)


def test_a_page_of_code_leads_back_to_the_lessons_that_read_it():
    page = website_code.page(FILE, {"02 · Activations": "../../notebooks/02_activations.ipynb"})
    assert "Read it with [02 · Activations](../../notebooks/02_activations.ipynb)." in page
    assert "orphan" not in page and "# activations.py" in page
    assert website_code.page("gpulessons/units.py", {"README": "../README.md"}).startswith(
        "---\norphan: true\ndescription: "
    )


@pytest.mark.parametrize(
    ("op", "number"), [("activations", "02"), ("bias_activation", "02"), ("attention", "09")]
)
def test_an_op_belongs_to_the_notebook_that_it_stands_under(op, number):
    assert website_code.order()[0][op] == number
