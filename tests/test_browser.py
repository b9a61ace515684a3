"""The controls as a learner meets them: JupyterLab, Chromium, a keyboard, a mouse, a reader.

The browser and the kernel are new, and remember nothing. The tests stand in the learner's order.
"""

import json
import os
import re
from pathlib import Path

import pytest

from browser import cell, lab, missing, page, picture, run_all, write_notebook
from gpulessons.notebook.controls import kept

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is at hand")
PATIENCE = 300_000  # milliseconds until what does not show counts as missing

LESSON = """\
from gpulessons.notebook.controls import live, predict, quiz
guess = predict("How much faster does a GPU run ReLU?", 0.5, 100)
guess
---
guess.reveal((2.9, 3.14, 3.4), 40, [("launches are free", False, "each costs 5 µs")])
---
quiz("Why do ReLU and GELU tie on a GPU?", {
    "Both wait for memory": "Each element is read once and written once.",
    "They need the same arithmetic": "GELU needs many times more."}, right="Both wait for memory")
---
from gpulessons.notebook.controls import slider
n = slider(0, 24, 12, step=1, unit="elements")
live(lambda n: f"{n} squared is {n * n}", n=n, labels={"n": "how many"})
---
live(lambda n: f"{n:,} in all", n=[3, 90_000])
---
live(lambda kind: f"a {kind} word", kind=["bold", "thin"], labels={"kind": "heavy"})
---
from gpulessons.plots.film import Film
from gpulessons.plots.picture import Picture, blank
class Steps(Film):
    def __len__(self):
        return 3
    def figure(self, number):
        return Picture(blank(4, 2, f"{number + 1} of 3")[0], f"picture {number + 1} of 3.")
    def multiples(self):
        return self.figure(0)
Steps()
---
from IPython.display import display
from gpulessons import exercises, hint, solution
display(hint(exercises.guard), solution(exercises.guard))
"""
PANELS = ".gpulessons.widget-vbox"  # each control's box
USED = r" *- (slider|button|combobox|checkbox|img)"  # of what a reader is told, these need names
# What can have the focus in a box, in the order of the page.
STOPS = """panel => [...panel.querySelectorAll("button, select, input, [role=slider], [tabindex]")]
    .filter(node => node.tabIndex >= 0 && node.checkVisibility())"""
# For each piece of text in a box: the ratio of its color to that behind it (WCAG 2), and the text.
CONTRASTS = """panel => {
    const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const rgba = color => {
        paint.clearRect(0, 0, 1, 1);
        paint.fillStyle = color;
        paint.fillRect(0, 0, 1, 1);
        return [...paint.getImageData(0, 0, 1, 1).data];
    };
    const light = color => [0.2126, 0.7152, 0.0722].reduce((sum, weight, n) => {
        const c = color[n] / 255;
        return sum + weight * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    }, 0.05);
    const behind = node => {
        const color = rgba(getComputedStyle(node).backgroundColor);
        return color[3] === 255 || !node.parentElement ? color : behind(node.parentElement);
    };
    const texts = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT), found = [];
    for (let text; text = texts.nextNode();) {
        const node = text.parentElement;
        if (!text.data.trim() || !node.checkVisibility() || node.closest("style, option")) continue;
        const pair = [light(rgba(getComputedStyle(node).color)), light(behind(node))];
        found.push([Math.max(...pair) / Math.min(...pair), text.data.trim()]);
    }
    return found;
}"""
# The parts of a box that stick out of it at a side, by what they are.


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """A page on which every cell of the notebook ran without an error."""
    root = tmp_path_factory.mktemp("notebooks")
    write_notebook(root / "lesson.ipynb", *LESSON.split("---\n"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(kept.NAME, str(tmp_path_factory.mktemp("data") / "mine.jsonl"))
        yield from opened(root)


def opened(root):
    with lab(root) as url, page(url) as tab:
        assert run_all(tab, "lesson.ipynb") == []
        picture(tab, root / "lesson.png")
        yield tab


def run_again(notebook, number):
    """Run the cell of that number once more, and wait until it has run."""
    prompt = cell(notebook, number).locator(".jp-InputPrompt")
    before = prompt.inner_text()
    cell(notebook, number).locator(".cm-content").click()
    notebook.keyboard.press("Shift+Enter")
    notebook.wait_for_function(
        "([prompt, before]) => /\\d/.test(prompt.innerText) && prompt.innerText !== before",
        arg=[prompt.element_handle(), before], timeout=PATIENCE)


def message(notebook, number):
    return cell(notebook, number).locator("img").get_attribute("alt")


def see(notebook, number, words):
    """Wait until the cell of that number says so."""
    found = cell(notebook, number).locator(".jp-OutputArea").get_by_text(words)
    found.first.wait_for(timeout=PATIENCE)


def test_one_arrow_key_is_a_guess_and_running_all_keeps_it(notebook):
    cell(notebook, 0).locator(".noUi-handle").focus()
    notebook.keyboard.press("ArrowRight")
    see(notebook, 0, "Your prediction: 8×")
    notebook.locator(".lm-MenuBar-itemLabel", has_text="Run").click()
    notebook.locator(".lm-Menu-itemLabel").get_by_text("Run All Cells", exact=True).click()
    see(notebook, 1, "What did not hold: launches are free")
    cell(notebook, 1).locator("img[alt^='You said 8×']").wait_for(timeout=PATIENCE)
    assert message(notebook, 1).startswith(
        "You said 8×; this machine says 3.14×: 2.5 times less.")
    see(notebook, 0, "Your prediction: 8×")
    run_again(notebook, 1)  # by now the new slider has been shown
    assert message(notebook, 1).startswith("You said 8×;")


def guesses():
    """The guesses in the learner's file."""
    lines = Path(os.environ[kept.NAME]).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["guess"] for line in lines]


def test_a_guess_survives_the_restart_of_its_kernel(notebook):
    assert guesses() == [None, 8], "one answer was shown, then one guess was made"
    notebook.locator(".lm-MenuBar-itemLabel", has_text="Kernel").click()
    notebook.locator(".lm-Menu-itemLabel").get_by_text("Restart Kernel and Run All").click()
    notebook.locator(".jp-Dialog .jp-mod-accept").click()
    cell(notebook, 7).locator(".jp-InputPrompt", has_text="[8]").wait_for(timeout=PATIENCE)
    see(notebook, 4, "3 in all")
    see(notebook, 0, "Your prediction: 8×")
    assert message(notebook, 1).startswith("You said 8×;")
    assert guesses() == [None, 8]


def test_every_control_says_its_name_and_its_value_in_words(notebook):
    from playwright.sync_api import expect

    sliders = notebook.get_by_role("slider")
    for slider, (name, value) in zip(sliders.all(), [
            ("How much faster does a GPU run ReLU? (0.5× … 100×, log scale)", r"\d×"),
            ("how many", "12 elements"), ("step", r"\d")], strict=True):
        expect(slider).to_have_accessible_name(name)
        expect(slider).to_have_attribute("aria-valuetext", re.compile(f"^{value}$"))
    handle = cell(notebook, 0).locator(".noUi-handle")
    handle.press("End")
    expect(handle).to_have_attribute("aria-valuetext", "100×")
    handle.press("ArrowDown")
    expect(handle).not_to_have_attribute("aria-valuetext", "100×")
    for key, value in (("ArrowUp", "100×"), ("Home", "0.5×")):
        handle.press(key)
        expect(handle).to_have_attribute("aria-valuetext", value)
    expect(cell(notebook, 4).get_by_role("combobox")).to_have_accessible_name("n")
    expect(cell(notebook, 5).get_by_role("combobox")).to_have_accessible_name("heavy")


def test_whatever_can_be_used_or_seen_has_a_name_for_a_reader(notebook):
    for number in range(8):
        for area in cell(notebook, number).locator(".jp-OutputArea-output").all():
            nodes = area.aria_snapshot().splitlines()
            used = [node for node in nodes if re.match(USED, node)]
            assert all(re.match(r' *- \w+ "', node) for node in used), (number, nodes)


def test_tab_stops_at_every_control_of_a_box_in_the_order_of_the_page(notebook):
    for panel in notebook.locator(PANELS).all():
        stops = panel.evaluate_handle(STOPS)
        order = stops.evaluate("""nodes => nodes.map(node => node.getBoundingClientRect())
            .map(({top, left}) => Math.round(top / 12) * 1e4 + left)""")
        assert order == sorted(order) and order, "as they are written, so they stand"
        assert not stops.evaluate("nodes => nodes.some(node => node.tabIndex > 0)")
        stops.evaluate("nodes => nodes[0].focus()")
        for number in range(len(order)):
            here = stops.evaluate("nodes => nodes.indexOf(document.activeElement)")
            assert here == number
            notebook.keyboard.press("Tab")
        assert stops.evaluate("nodes => nodes.indexOf(document.activeElement)") == -1, "no trap"


def test_a_film_goes_on_by_an_arrow_key_and_says_what_it_shows(notebook):
    cell(notebook, 6).get_by_role("slider").focus()
    notebook.keyboard.press("ArrowRight")
    see(notebook, 6, "picture 2 of 3.")
    notebook.keyboard.press("End")
    see(notebook, 6, "picture 3 of 3.")


def test_hints_and_a_solution_are_opened_by_keyboard(notebook):
    from playwright.sync_api import expect

    folds = cell(notebook, 7).locator("summary")
    for number, words in enumerate(["Hint 1: a nudge", "Hint 2: a line", "A solution"]):
        fold = folds.nth(number)
        expect(fold).to_have_text(words)
        assert fold.is_visible(), "it is inside the one before"
        fold.focus()
        notebook.keyboard.press("Enter")
        expect(fold.locator("..")).to_have_attribute("open", "")


def test_the_quiz_is_answered_by_keyboard_and_explains(notebook):
    wrong = cell(notebook, 2).get_by_role("button", name="They need the same arithmetic")
    wrong.focus()
    notebook.keyboard.press("Enter")
    see(notebook, 2, "GELU needs many times more.")
    notebook.keyboard.press("Shift+Tab")
    notebook.keyboard.press("Space")
    see(notebook, 2, "Right.")


def test_a_result_follows_the_slider(notebook):
    from playwright.sync_api import expect

    see(notebook, 3, "12 squared is 144")
    cell(notebook, 3).get_by_role("slider").focus()
    notebook.keyboard.press("ArrowRight")
    see(notebook, 3, "13 squared is 169")
    expect(cell(notebook, 3).get_by_text("squared is 1")).to_have_count(1)


def test_a_list_takes_the_arrow_keys_and_the_result_follows(notebook):
    from playwright.sync_api import expect

    see(notebook, 4, "3 in all")
    choice = cell(notebook, 4).locator("select")
    choice.focus()
    notebook.keyboard.press("ArrowDown")  # which the notebook would take for its own
    expect(choice).to_have_value("90,000")
    expect(choice).to_have_css("outline-width", "3px")
    see(notebook, 4, "90,000 in all")


def contrasts(notebook):
    """Of all text in the controls' boxes: {text: contrast}."""
    found = [pair for panel in notebook.locator(PANELS).all() for pair in panel.evaluate(CONTRASTS)]
    return {text: round(ratio, 2) for ratio, text in found}


def test_the_words_of_every_control_are_dark_enough_on_light_and_light_enough_on_dark(notebook):
    light = contrasts(notebook)
    assert {text: ratio for text, ratio in light.items() if ratio < 4.5} == {}
    notebook.locator(".lm-MenuBar-itemLabel", has_text="Settings").click()
    notebook.locator(".lm-Menu-itemLabel").get_by_text("Theme", exact=True).hover()
    notebook.locator(".lm-Menu-itemLabel").get_by_text("JupyterLab Dark", exact=True).click()
    notebook.locator("body[data-jp-theme-light=false]").wait_for(state="attached", timeout=PATIENCE)
    dark = contrasts(notebook)
    assert {*dark} == {*light} and len(dark) > 10
    assert {text: ratio for text, ratio in dark.items() if ratio < 4.5} == {}


def lines(tab, pattern):
    """On how many lines of the page the matches of a pattern stand, as a set."""
    return set(tab.evaluate("""pattern => {
        const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), lines = [];
        for (let text; text = texts.nextNode();)
            for (const match of text.data.matchAll(new RegExp(pattern, "g"))) {
                const range = document.createRange();
                range.setStart(text, match.index);
                range.setEnd(text, match.index + match[0].length);
                lines.push(new Set([...range.getClientRects()].map(box => box.y)).size);
            }
        return lines;
    }""", pattern))


def test_on_a_small_screen_nothing_breaks_and_nothing_widens_the_page(notebook):
    from gpulessons import source
    from gpulessons.measure.results import Absent, Comparison
    from gpulessons.ops import copy

    row = [Absent("relu", "Numba", "host", 10 ** power, "a test") for power in range(3, 10)]
    table = Comparison("relu", tuple(row), "a machine with a name of some length", "2026-11-21")
    breaks_code = "<style>pre {white-space: pre-wrap; word-break: break-all}</style>"  # as Lab's
    tab = notebook.context.browser.new_page()
    code = source(copy.copy_launch, run_again)
    tab.set_content(breaks_code + table._repr_html_() + code._repr_html_())
    for width in range(280, 420, 20):
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert lines(tab, r"2026-11-21") == {1}, "a date is broken"
        assert lines(tab, r"\w+") == {1}, "a word is broken"
    for box in (tab.locator("div", has=tab.locator("table")), tab.locator("pre")):
        box.focus()
        box.evaluate("box => box.scrollBy(50, 0)")
        assert box.evaluate("box => box.scrollLeft") == 50
    tab.close()
