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
from pathlib import Path
from typing import Any

from .picture import Picture

SAVING = "GPULESSONS_SAVING"  # in the environment: a page is being saved, so frames are drawn
LARGEST = 120_000  # characters of one picture that moves
SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


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
             for name, values, start in controls]
    # Frames are alike: a tag that many have is kept once, and a frame is the places of its tags.
    tags: dict[str, int] = {}
    placed = [([tags.setdefault(tag, len(tags)) for tag in markup.split("<")], words)
              for markup, words in frames]
    kept = {"controls": named, "frames": placed, "tags": list(tags)}
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    return (
        f'<figure style="margin: 0"><div>{still}</div><script type="text/plain">{packed}</script>'
        f"<script>{SCRIPT}</script></figure>"
    )
