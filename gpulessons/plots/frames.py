"""Pictures that move on a saved page, where no Python runs: sliders over frames drawn beforehand.

A page holds its frames packed, and a few lines of script that unpack and show them; the sliders are
the browser's own, so that arrow keys move them. A page that refuses scripts, or a browser that
cannot unpack, shows the still picture that stands there first.
"""

import base64
import json
import os
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from .picture import Picture

SAVING = "GPULESSONS_SAVING"  # in the environment: a page is being saved, so frames are drawn
LARGEST = 120_000  # characters of one picture that moves
SCRIPT = """\
(async figure => {
  const packed = Uint8Array.from(atob(figure.querySelector('script').textContent),
    letter => letter.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  const {controls, frames, tags} = JSON.parse(await new Response(unpacked).text());
  const shown = document.createElement('div');
  shown.setAttribute('role', 'img');
  const sliders = controls.map(({name, values, start}) => {
    const [label, named, told] = ['label', 'span', 'output'].map(kind =>
      document.createElement(kind));
    const slider = Object.assign(document.createElement('input'),
      {type: 'range', min: 0, max: values.length - 1, value: start});
    label.style = 'display: flex; flex-wrap: wrap; gap: 0 1em; align-items: center';
    slider.style = 'flex: 1 1 12em; max-width: 30em';
    named.textContent = name;
    named.style = 'min-width: 12em';
    slider.oninput = () => {
      told.textContent = values[slider.value];
      slider.setAttribute('aria-valuetext', values[slider.value]);
      show();
    };
    slider.onkeydown = event => event.stopPropagation();  // a notebook takes the arrow keys
    label.append(named, slider, told);
    return label;
  });
  const show = () => {
    const at = sliders.reduce((sum, label, n) =>
      sum * controls[n].values.length + Number(label.children[1].value), 0);
    const [places, words] = frames[at];
    shown.innerHTML = places.map(place => tags[place]).join('<');
    shown.ariaLabel = words;
  };
  figure.firstElementChild.replaceWith(...sliders, shown);
  sliders.forEach(label => label.children[1].oninput());
  show();  // where there is no slider to do it
})(document.currentScript.parentNode);
"""


def saving() -> bool:
    """Whether the page that is shown is about to be saved."""
    return bool(os.environ.get(SAVING))


def frame(shown: Any) -> tuple[str, str]:
    """(markup, words) of whatever a page can show."""
    if isinstance(shown, Picture):
        return shown.drawing, shown.alt
    return shown._repr_html_(), repr(shown)


def still(shown: Any) -> str:
    """The markup of one frame where nothing moves: an image, where it is a picture."""
    return shown.image if isinstance(shown, Picture) else shown._repr_html_()


def fitting(pages: Iterable[str]) -> str:
    """The first page that is small enough; the last where none is."""
    page = ""
    for page in pages:
        if len(page) <= LARGEST:
            break
    return page


def moving(
    controls: Sequence[tuple[str, Sequence[str], int]], frames: Sequence[tuple[str, str]],
    still: str,
) -> str:
    """The markup of frames under sliders, with `still` for pages without scripts.

    A control is (name, the values in words, the place of the first to show); there is a frame for
    every combination of values, the last control's varying fastest. Without a control the one frame
    is shown, which takes less room so than as it is.
    """
    named = [{"name": name, "values": list(values), "start": start}
             for name, values, start in controls]  # fmt: skip
    # Frames are alike: a tag that many have is kept once, and a frame is the places of its tags.
    tags: dict[str, int] = {}
    placed = [([tags.setdefault(tag, len(tags)) for tag in markup.split("<")], words)
              for markup, words in frames]  # fmt: skip
    kept = {"controls": named, "frames": placed, "tags": list(tags)}
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    return (
        f'<figure style="margin: 0"><div>{still}</div><script type="text/plain">{packed}</script>'
        f"<script>{SCRIPT}</script></figure>"
    )
