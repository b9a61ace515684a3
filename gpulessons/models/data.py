"""Real data, shipped with the course: 1,797 handwritten digits of 8 by 8 pixels.

Source: E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning
Repository, 1998, https://doi.org/10.24432/C50P49, under the Creative Commons Attribution 4.0
license (CC BY 4.0). These are the 1,797 of its test set, as scikit-learn ships them, in the same
order, packed into one small file and otherwise unchanged.
"""

from pathlib import Path

import numpy as np

DIGITS = Path(__file__).with_name("digits.npz")
EVERY = 5  # every fifth is held out


def digits():
    """(images, labels) to learn from, 1,437 of them, and (images, labels) held out, 360.

    images: (n, 8, 8) uint8 from 0, paper, to 16, ink; labels: (n,) uint8. Held out is every fifth,
    from the first on: 13 people wrote these, one after the other, and so each of them is on both
    sides. What is asked of a network is to read new digits, not a new hand.
    """
    with np.load(DIGITS) as file:
        images, labels = file["images"], file["labels"]
    held = np.arange(len(labels)) % EVERY == 0
    return (images[~held], labels[~held]), (images[held], labels[held])
