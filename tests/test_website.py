"""The website: every page is there, every link leads somewhere, and everybody can read it."""

import re
import subprocess
import sys
import zipfile
from functools import cache
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest

import first_cell
import flowchart
import website
import website_lessons
import website_ways
from browser import missing, page

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[1]
ABSENT = [name for name in ("sphinx", "myst_nb", "furo") if not find_spec(name)]
needs_sphinx = pytest.mark.skipif(bool(ABSENT), reason=f"{' and '.join(ABSENT)} not installed")
needs_browser = pytest.mark.skipif(
    bool(ABSENT or missing()), reason=missing() or f"{' and '.join(ABSENT)} not installed"
)


# Gathering


@pytest.fixture
def gathering(tmp_path):
    return website.Gathering(tmp_path)


def test_every_notebook_every_document_and_every_op_has_a_page():
    listed = {file for files in website.sections().values() for file in files} | set(website.ops())
    on_disk = [
        *website.listed("notebooks/*.ipynb"),
        *website.listed("gpulessons/ops/*.py"),
        *website.listed("docs/*.md"),
        *website.listed("teaching/**/*.md"),
        *website.listed("warplens/**/*.md"),
        "README.md",
    ]
    assert set(on_disk) - {website.FRONT} <= listed


@pytest.mark.parametrize(
    ("link", "leads_to"),
    [
        ("[a](notebooks/02_activations.ipynb)", "[a](notebooks/02_activations.ipynb)"),
        ("[a](docs/hazards.md)", "[a](docs/hazards.md)"),
        ("[a](notebooks/glossary.ipynb#Tile)", "[a](notebooks/glossary.ipynb#tile)"),
        ("[a](notebooks/04_memory.ipynb#cell-id=04-memory-03)", "[a](#04-memory-03)"),
        ("[a](warplens/)", "[a](warplens/README.md)"),
        ("[a](#the-map)", "[a](#the-map)"),
        ("[a](https://example.org/b.ipynb)", "[a](https://example.org/b.ipynb)"),
        ("`[a](gone.md)`", "`[a](gone.md)`"),
        ("```\n[a](gone.md)\n```", "```\n[a](gone.md)\n```"),
        ("![a](docs/notebook.png)", "![a](docs/notebook.png)"),
    ],
)  # fmt: skip
def test_a_link_of_the_checkout_becomes_one_of_the_site(gathering, link, leads_to):
    assert gathering.relinked(link, "README.md") == leads_to


def test_a_link_to_nothing_is_refused_with_its_page(gathering):
    with pytest.raises(ValueError, match=r"README.md links to gone.md, which is no file"):
        gathering.relinked("[a](gone.md)", "README.md")


# The flowchart


FLOW = """flowchart TD
    a --> b
    a --> c
    b --> d
    c --> d
    a --> e
    d --> e
    f
"""


def test_every_box_of_a_flowchart_is_drawn_and_every_arrow_is_told():
    drawn = flowchart.picture(FLOW)
    assert set(re.findall(r"<text[^>]*>(\w)<", drawn)) == set("abcdef")
    assert drawn.count("<path") == 6
    assert 'aria-label="Arrows lead from a to b, c, e; b to d; c to d; d to e."' in drawn


# The site itself


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the whole site, built as `make site` does."""
    folder = tmp_path_factory.mktemp("website")
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "website.py", folder],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr.lower(), done.stderr
    return folder / "site"


class Read(HTMLParser):
    """What stands in a page: its tags with their attributes, and its text outside of scripts."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.words, self.inside = [], [], None
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside not in ("script", "style"):
            self.words.append(data)

    def all(self, *names):
        return [attrs for tag, attrs in self.tags if tag in names]

    @property
    def names(self):
        return {attrs["id"] for _, attrs in self.tags if attrs.get("id")}


@cache
def read(path):
    return Read(path)


def pages(site):
    return sorted(path for path in site.rglob("*.html"))


def lost(site):
    """(page, link) of every link within a site that leads nowhere."""
    for path in pages(site):
        for attrs in read(path).all("a", "link"):
            parts = urlsplit(attrs.get("href") or "")
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.is_file() or (
                place and target.suffix == ".html" and place not in read(target).names
            ):
                yield path.relative_to(site).as_posix(), attrs["href"]


@needs_sphinx
def test_every_link_within_the_site_leads_to_its_page_and_place(site):
    assert not list(lost(site))


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    links = '<a href="b.html">1</a> <a href="#x">2</a> <a href="a.html#y">3</a> <b id="y"></b>'
    (tmp_path / "a.html").write_text(links)
    assert list(lost(tmp_path)) == [("a.html", "b.html"), ("a.html", "#x")]


@needs_sphinx
def test_links_to_cells_and_to_the_glossary_arrive_there(site):
    glossary = read(site / "notebooks" / "glossary.html")
    to_cells = [attrs["href"] for attrs in glossary.all("a") if "#" in attrs.get("href", "")]
    assert len([link for link in to_cells if re.match(r"\d\d_\w+\.html#", link)]) > 80
    lesson = read(site / "notebooks" / "02_activations.html")
    assert "glossary.html#activation" in [attrs.get("href") for attrs in lesson.all("a")]
    assert "activation" in glossary.names


@needs_sphinx
def test_the_course_can_be_taken_along_as_a_wheel_that_has_its_notebooks(site):
    inside = zipfile.ZipFile(site / website_ways.wheel()).namelist()
    assert "gpulessons/_notebooks/glossary.ipynb" in inside
    assert (site / website_ways.ALL).exists()


@needs_sphinx
def test_no_page_asks_another_host_for_anything(site):
    for path in pages(site):
        tags = read(path).all("script", "img", "iframe", "source", "video", "audio", "use")
        tags += [attrs for attrs in read(path).all("link")
                 if attrs.get("rel") in ("stylesheet", "preload", "icon")]  # fmt: skip
        for attrs in tags:
            address = attrs.get("src") or attrs.get("href") or ""
            assert not re.match(r"(https?:)?//", address), (path.name, address)
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", style.read_text()), style.name


@needs_sphinx
def test_every_page_has_a_language_a_title_one_heading_and_words_for_its_pictures(site):
    for path in pages(site):
        found = read(path)
        assert found.all("html")[0].get("lang") == "en", path.name
        assert re.search(r"<title>.+</title>", path.read_text().partition("</head>")[0]), path.name
        if path.name != "search.html":  # where scripts write it
            assert len(found.all("h1")) == 1, path.name
        assert all(attrs.get("alt") for attrs in found.all("img")), path.name


@needs_sphinx
def test_a_notebooks_page_shows_its_cells_and_offers_it_as_it_is(site):
    for file in website.listed("notebooks/[0-9]*.ipynb"):
        found = read(site / file.replace(".ipynb", ".html"))
        assert (site / file).read_bytes() == (ROOT / file).read_bytes()
        assert {"href": Path(file).name, "download": None} in found.all("a")
        words = re.sub(r"\s+", " ", "".join(found.words))
        assert first_cell.CELL.splitlines()[0] not in words
        for cell in nbformat.read(ROOT / file, 4).cells:
            if cell.cell_type == "code" and cell.id != first_cell.ID:
                there = re.sub(r"\s+", " ", cell.source.strip()) in words
                assert there or not website_lessons.shows_code(cell), cell.id


@needs_sphinx
def test_next_leads_through_the_course_in_order_and_ends_with_it(site):
    path, walked = site / "notebooks" / "00_start_here.html", []
    while path.stem[:2].isdigit():
        walked.append(path.stem)
        ahead = [attrs["href"] for attrs in read(path).all("link") if attrs.get("rel") == "next"]
        if not ahead:
            break
        path = (path.parent / ahead[0]).resolve()
    assert walked == [Path(file).stem for file in website.listed("notebooks/[0-9]*.ipynb")]


# In a browser


@pytest.fixture(scope="module")
def opened(site):
    with page((site / "index.html").as_uri()) as tab:
        tab.goto((site / "notebooks" / "02_activations.html").as_uri())
        yield tab


WIDER = """width => [...document.querySelectorAll('.content *')].filter(node => {
    if (node.closest('svg') || node.getBoundingClientRect().right <= width + 1) return false;
    for (let box = node.parentElement; box; box = box.parentElement)
        if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(box).overflowX)) return false;
    return node.getBoundingClientRect().width > 0;
}).map(node => node.outerHTML.slice(0, 80))"""

CUT = """() => [...document.querySelectorAll('.content *')].filter(node => {
    const look = getComputedStyle(node);
    return node.scrollWidth > node.clientWidth + 1 && ['auto', 'scroll'].includes(look.overflowX)
        && (matchMedia('print').matches || !look.backgroundAttachment.includes('local'));
}).map(node => node.outerHTML.slice(0, 80))"""


@needs_browser
def test_on_a_telephone_no_page_is_wider_than_the_screen(site, opened):
    tab = opened.context.browser.new_page(viewport={"width": 390, "height": 800})
    chosen = [path for path in pages(site) if path.parent.name != "ops"]
    for path in [*chosen, site / "gpulessons" / "ops" / "matmul.html"]:
        tab.goto(path.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390, path.name
        assert tab.evaluate(WIDER, 390) == [], path.name
        assert tab.evaluate(CUT) == [], path.name
    tab.goto((site / "notebooks" / "02_activations.html").as_uri())
    grid = tab.get_by_role("figure", name="3 blocks of 64 threads")
    assert grid.locator("svg").bounding_box()["width"] >= 560, "its letters are too small to read"
    for name, picture, word, part in (
        ("02_activations", "3 blocks of 64 threads", "its warp", "warp"),
        ("04_memory", "A grid of 32 banks", "the first wavefront", "first"),
        ("17_gpu_on_paper", "mine on A100", "the waits", "wait"),
    ):
        tab.goto((site / "notebooks" / f"{name}.html").as_uri())
        shown = tab.get_by_role("figure", name=picture)
        shown.get_by_text(word, exact=True).focus()
        seen = [(each.get_attribute("class").split(),
                 each.evaluate("part => getComputedStyle(part).opacity"))
                for each in shown.locator(".lit").all()]  # fmt: skip
        assert {part in of for of, _ in seen} == {True, False}
        assert all((opacity == "1") == (part in of) for of, opacity in seen), "lit: its own"
    tab.close()


CONTRAST = """() => {
    const light = color => {
        const parts = color.match(/[\\d.]+/g).slice(0, 3).map(part => part / 255)
            .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const behind = node => {
        for (; node; node = node.parentElement) {
            const color = getComputedStyle(node).backgroundColor;
            if (!/, 0\\)$/.test(color) && color !== 'transparent') return color;
        }
        return 'rgb(255, 255, 255)';
    };
    const seen = {};
    const texts = document.createTreeWalker(document.querySelector('.main'), NodeFilter.SHOW_TEXT);
    for (let text; text = texts.nextNode();) {
        const node = text.parentElement;
        if (!text.data.trim() || node.closest('script, style, svg, .headerlink')) continue;
        if (node.closest('pre[style]')) continue;  // source(): mid-tones, the same on every page
        if (!node.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
        const two = [getComputedStyle(node).color, behind(node)];
        const [dim, bright] = two.map(light).sort((a, b) => a - b);
        seen[two.join(' on ')] ??= [(bright + 0.05) / (dim + 0.05), text.data.trim().slice(0, 40)];
    }
    return seen;
}"""
INK = """() => {
    const drawn = document.querySelector('svg[aria-hidden] [fill=currentColor]');
    return [getComputedStyle(drawn).fill, getComputedStyle(document.body).color];
}"""


@needs_browser
def test_words_stand_out_and_pictures_take_their_color_in_both_themes(site, opened):
    for scheme in ("light", "dark"):
        context = opened.context.browser.new_context(color_scheme=scheme)
        tab = context.new_page()
        for name in ("README", "notebooks/02_activations", "gpulessons/ops/reduce"):
            tab.goto((site / f"{name}.html").as_uri())
            dim = {two: seen for two, seen in tab.evaluate(CONTRAST).items() if seen[0] < 4.5}
            assert not dim, (scheme, name)
            if name.startswith("notebooks"):
                tab.locator("input[type=range]").first.wait_for()
                ink, text = tab.evaluate(INK)
                assert ink == text
        context.close()


@needs_browser
def test_a_picture_moves_by_keyboard_and_the_page_stays(opened):
    from playwright.sync_api import expect

    slider = opened.get_by_role("slider", name="numbers", exact=True)
    slider.focus()
    before, address = slider.get_attribute("aria-valuetext"), opened.url
    opened.keyboard.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", before)
    assert opened.url == address


@needs_browser
def test_the_search_finds_a_word_of_the_course_from_a_file(site, opened):
    tab = opened.context.browser.new_page()
    tab.goto((site / "index.html").as_uri())
    tab.get_by_role("textbox", name="Search").first.fill("occupancy")
    tab.keyboard.press("Enter")
    tab.locator("ul.search a", has_text="17").first.wait_for()
    tab.close()


@needs_browser
def test_without_scripts_pages_are_read_and_followed_and_dark_where_that_is_wanted(site, opened):
    context = opened.context.browser.new_context(java_script_enabled=False, color_scheme="dark")
    tab = context.new_page()
    tab.goto((site / "index.html").as_uri())
    tab.get_by_role("link", name="04 · Memory").first.click()
    assert tab.title().startswith("04 · Memory")
    for summary in tab.locator("details.fold > summary").all():
        summary.click()
    images = tab.locator(".cell_output > .output > figure > div > img")
    assert images.count() > 5
    assert all(image.is_visible() and image.get_attribute("alt") for image in images.all())
    tab.get_by_role("link", name="Next").click()
    assert tab.title().startswith("05 · Matrix")
    shot = site.with_name("dark.png")
    tab.screenshot(path=shot, clip={"x": 500, "y": 10, "width": 4, "height": 4})
    from PIL import Image

    assert max(Image.open(shot).convert("RGB").getpixel((1, 1))) < 60
    context.close()
