"""Pictures in sequence: a slider steps through them; a static page has several of them in one."""

import base64
from typing import Any

from .panel import panel

VIEW = "application/vnd.jupyter.widget-view+json"


class Film:
    """For a class with a length, `figure(number)` and `multiples()`, which give Pictures."""

    def __len__(self) -> int:
        raise NotImplementedError

    def figure(self, number: int) -> Any:
        raise NotImplementedError

    def multiples(self) -> Any:
        raise NotImplementedError

    def widget(self) -> Any:
        """A slider over the steps (arrow keys move it when it has the focus) and the picture."""
        from ipywidgets import Image, IntSlider, Label

        slider = IntSlider(0, 0, len(self) - 1, description="step", layout={"width": "95%"})
        told, shown = Label(), Image(format="png")

        def show(number: int) -> None:
            picture = self.figure(number)
            told.value, shown.value = picture.alt, base64.b64decode(picture.png)

        slider.observe(lambda change: show(change["new"]), names="value")
        show(0)
        return panel(slider, told, shown)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict, dict]:
        data, metadata = self.multiples()._repr_mimebundle_()
        data["text/plain"] = f"{self!r}\n{data['text/plain']}"
        try:
            shown = self.widget()._repr_mimebundle_() or {}
        except (ImportError, AttributeError):
            return data, metadata  # no widgets here: the static page it is
        return data | {name: shown[name] for name in (VIEW,) if name in shown}, metadata
