"""The box around a control's widgets: what it looks like, and what it says to a screen reader.

ipywidgets cannot name the handle of a slider, which then announces a bare index, and a notebook
takes the arrow keys away from a list. Both are mended in the page, by a few lines that reach no
further than the box; where a page refuses to run them, the widgets work as they came.
"""

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipywidgets import VBox, Widget

# A blue of at least 4 to 1 on a white page and on a dark one (#111).
BLUE = "#1a78c8"
# Of a right answer and a wrong one: white words on them have a contrast of at least 6 to 1.
GREEN, BROWN = "#1b6e2f", "#a04000"
STYLE = f"""\
.gpulessons :focus-visible {{outline: 3px solid {BLUE} !important; outline-offset: 2px}}
.gpulessons.widget-box .slider-container .noUi-handle,
.gpulessons.widget-box .slider-container .ui-slider-handle {{
  background: {BLUE}; border-color: {BLUE}}}
.gpulessons .widget-slider, .gpulessons .widget-dropdown {{
  width: auto; max-width: 640px; height: auto; flex-wrap: wrap}}
.gpulessons .widget-slider > label, .gpulessons .widget-dropdown > label {{
  width: auto; min-width: 210px; height: auto; line-height: 1.6; white-space: normal;
  text-align: left}}
.gpulessons .widget-dropdown > select {{flex: 0 1 auto}}
.gpulessons .slider-container {{flex: 1 1 150px; margin: 0 10px}}
.gpulessons .widget-readout {{width: auto; min-width: 0; max-width: none}}
.gpulessons .gpulessons-question > label {{
  flex: 1 0 100%; margin-bottom: 6px; font-weight: bold}}
.gpulessons .gpulessons-choice {{width: calc(100% - 4px); height: auto; min-height: 28px;
  padding: 4px 10px; white-space: normal; line-height: 1.4; text-align: left}}
.gpulessons .gpulessons-choice.mod-success {{background: {GREEN}; color: #fff}}
.gpulessons .gpulessons-choice.mod-warning {{background: {BROWN}; color: #fff}}
"""
# A slider is called by its label and says its value in words, at every move. The handle is noUi's
# in ipywidgets 8 and jQuery UI's in 7.7; a list keeps keys that the notebook would take.
SCRIPT = """\
const box = this.closest('.gpulessons');
const set = (node, name, value) => {  /* nothing that stands already, or it would never end */
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
};
const speak = () => {
  for (const slider of box.querySelectorAll('.widget-slider')) {
    const [handle, label, value] = ['.noUi-handle, .ui-slider-handle', 'label', '.widget-readout']
      .map(part => slider.querySelector(part));
    if (!handle) continue;
    set(handle, 'role', 'slider');
    set(handle, 'aria-label', label.textContent);
    set(handle, 'aria-valuetext', value.textContent);
    set(value, 'contenteditable', 'false');
  }
  box.querySelectorAll('select')
    .forEach(list => set(list, 'data-lm-suppress-shortcuts', 'true'));
};
new MutationObserver(speak).observe(box, {subtree: true, childList: true, characterData: true,
  attributes: true, attributeFilter: ['aria-valuetext', 'contenteditable']});
speak();
"""


def panel(*children: "Widget") -> "VBox":
    """A box of widgets, one to a line, which brings its look along."""
    from ipywidgets import HTML, VBox

    look = HTML(f'<style onload="{escape(SCRIPT)}">{STYLE}</style>', layout={"display": "none"})
    box = VBox([*children, look])
    box.add_class("gpulessons")
    return box
