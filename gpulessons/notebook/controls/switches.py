"""A switch between the GPUs that times are modelled for, over one figure."""

from collections.abc import Callable
from typing import Any

from .interactive import live


def on_paper(draw: Callable[[str], Any], *comparisons: Any) -> Any:
    """What `draw(gpu)` gives, under a switch of the GPUs that these comparisons are modelled for.

    `on_paper(lambda gpu: plots.bars(times, gpu=gpu), times)`. The first GPU is shown until another
    is chosen, and on a saved page. Where nothing is modelled there is no switch: `draw("")` alone.
    Raises ValueError where the comparisons have no GPU in common.
    """
    modelled = [each.gpus for each in comparisons if each.gpus]
    if not modelled:
        return draw("")
    shared = [gpu for gpu in modelled[0] if all(gpu in gpus for gpus in modelled)]
    if not shared:
        raise ValueError("These comparisons are modelled for no GPU in common.")

    def picture(gpu: str) -> Any:
        return draw(gpu)

    return live(picture, gpu=shared, labels={"gpu": "modelled for"})
