"""The picture of instruction mixes: what it says is what was counted."""

import pytest

from gpulessons.illustrations.instruction_mix import mixes
from warplens.code.mix import Mix, Part


def mix(name, pipes, products, memory):
    part = Part(sum(pipes.values()), pipes, memory, products, products, {})
    return name, Mix(name, (8, 6), part, part)


SLOW = mix(
    "coalesced", {"fp32": 4, "imad": 35, "alu": 87, "load/store": 8, "control": 1}, 4, {"LDG.32": 8}
)
FAST = mix(
    "vectorized", {"fp32": 512, "alu": 27, "load/store": 39}, 512, {"LDS.128": 34, "STS.32": 5}
)
COPY = mix("copy", {"alu": 6, "load/store": 2}, 0, {"LDG.32": 1, "STG.32": 1})


def test_the_title_says_how_much_is_what_the_kernels_are_for():
    words = repr(mixes([SLOW, FAST]))
    assert words.startswith(
        "Of the instructions 3% (coalesced) to 89% (vectorized) are multiply-adds."
    )
    assert "coalesced: arithmetic 3%, integer multiply-adds 26%" in words
    assert "30.5 integer and 2 loads to a multiply-add; vectorized" in words
    assert repr(mixes([SLOW])).startswith("Of these instructions 3% are multiply-adds.")
    assert repr(mixes([COPY])).startswith("Of these instructions 25% are loads and stores.")
    assert "to a multiply-add" not in repr(mixes([COPY]))


def test_every_bar_is_whole_and_names_the_machine_code():
    picture = mixes([SLOW, FAST])
    rows = {}
    for bar in picture.axes.patches:
        y = round(bar.get_y() + bar.get_height() / 2)
        rows[y] = rows.get(y, 0) + bar.get_width()
    assert rows == pytest.approx({0: 1, 1: 1})
    assert [tick.get_text() for tick in picture.axes.get_yticklabels()] == [
        "coalesced",
        "vectorized",
    ]
    assert "machine code for 8.6; counted" in picture.axes.get_xlabel()
