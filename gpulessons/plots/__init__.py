"""Figures: timings come in, a `Picture` goes out, its message in its title and in its alt text.

`picture` is what all figures share, `timings` and `roofline` draw measurements,
`bounds` a modelled time, `film` shows pictures in sequence in a `panel`, the box that widgets stand
in. What is drawn for one notebook alone is in `illustrations`.
"""

from .modelled import bounds
from .picture import Picture, images
from .timings import bars, scaling

__all__ = [
    "Picture",
    "bars",
    "bounds",
    "images",
    "scaling",
]
