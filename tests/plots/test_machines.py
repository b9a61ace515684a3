"""Machines in one picture: a dot each, told apart by letter and shape, live or recorded."""

from types import SimpleNamespace

import pytest
from test_plots import contrast, drawn, texts

from gpulessons import plots
from gpulessons.plots.picture import COLORS, MARKERS


def timed(seconds, version="NumPy", backend="host", noise=""):
    return SimpleNamespace(
        version=version, backend=backend, median=seconds, noise=noise,
        words=f"{1e3 * seconds:g} ms", quartiles=(0.9 * seconds, 1.1 * seconds),
    )  # fmt: skip


def faster(factor, refused=""):
    return SimpleNamespace(median=factor, refused=refused)


def row(name, entries, ratios, op="relu", size=1000):
    return SimpleNamespace(op=op, size=size, unit="elements", name=name, entries=entries,
                           ratios=ratios)  # fmt: skip


def together(*rows, machines=2):
    """A plain object with the attributes of a SideBySide: the room imports none."""
    sides = [
        SimpleNamespace(letter="ABCDEFGH"[n], tier="recorded" if n else "live",
                        label=lambda n=n: f"machine {n} with a long and honest name, {n}.json")
        for n in range(machines)
    ]  # fmt: skip
    shared = list(dict.fromkeys((row.op, row.size) for row in rows))
    return SimpleNamespace(
        sides=sides, against="A", shared=shared,
        of=lambda op, size: [row for row in rows if (row.op, row.size) == (op, size)],
    )  # fmt: skip


NUMPY = row("NumPy", (timed(4e-3), timed(2e-3, noise="noisy")), (None, faster(2)))
TORCH = row("PyTorch on CPU", (timed(1e-3, "PyTorch on CPU", "torch_cpu"),
                               timed(1.1e-3, "PyTorch on CPU", "torch_cpu")),
            (None, faster(0.909)))  # fmt: skip
BEST = row("best of all", (timed(1e-3, "PyTorch on CPU", "torch_cpu"), timed(5e-4, "Numba")),
           (None, faster(2)))  # fmt: skip
BOTH = together(NUMPY, TORCH, BEST)
CLASS = together(*(
    row(f"a version with a long name {v}", tuple(timed(2e-3 + 1e-5 * n) for n in range(8)),
        (None, *(faster(1.0) for _ in range(7))))
    for v in range(6)
), machines=8)  # fmt: skip


FAR_APART = together(
    row("NumPy", (timed(1e-6), timed(1e-6)), (None, faster(1))),
    row("Python loop", (timed(10.0), timed(12.0, noise="noisy")), (None, faster(0.833))),
)


@pytest.mark.parametrize("both", [BOTH, CLASS, FAR_APART], ids=["two", "a class", "far apart"])
def test_nothing_is_clipped_no_words_overlap_and_all_can_be_read(both):
    picture = plots.side_by_side(both)
    words = [(text, text.get_window_extent()) for text in texts(picture)]
    page = picture.figure.bbox
    for n, (text, box) in enumerate(words):
        assert text.get_fontsize() >= 9 and contrast(text.get_color(), "#fff") >= 4
        assert box.x0 >= -1 and box.x1 <= page.x1 + 1 and box.y0 >= -1, text
        for other, place in words[:n]:
            lap = (min(box.x1, place.x1) - max(box.x0, place.x0),
                   min(box.y1, place.y1) - max(box.y0, place.y0))  # fmt: skip
            assert min(lap) < 2, f"{text} lies on {other}"


def test_the_title_says_who_is_fastest_and_begins_the_alt_text():
    picture = plots.side_by_side(BOTH)
    title = (
        "relu, 1,000 elements: the fastest is B's Numba, 0.5 ms; "
        "that is 2× as fast as A's PyTorch on CPU."
    )
    assert " ".join(picture.figure.get_suptitle().split()) == title
    assert picture.alt.startswith(title)
    assert "NumPy: A takes 4 ms, B 2× (noisy) takes 2 ms." in picture.alt
    assert "B  machine 1 with a long" in picture.alt


@pytest.mark.parametrize(
    "entries, ratios, end",
    [
        ((timed(1e-3), timed(2e-3)), (None, faster(0.5)), "A's NumPy, 1 ms; B's NumPy is 0.5× as"),
        ((timed(2e-3), timed(1e-3)), (None, faster(0, "too noisy")),
         "looks to be B's NumPy, 1 ms; no ratio to A's NumPy: too noisy."),
        ((None, timed(1e-3), timed(2e-3)), (None, None, None), "B's NumPy, 1 ms; A has no time."),
    ],
)  # fmt: skip
def test_the_title_claims_no_more_than_there_is(entries, ratios, end):
    both = together(row("NumPy", entries, ratios), machines=len(entries))
    assert end in plots.side_by_side(both).alt


def test_shape_and_letter_are_the_machines_color_the_backends_and_open_is_recorded():
    axes = plots.side_by_side(BOTH).axes
    dots = [line for line in axes.lines if line.get_marker() != "None"]
    assert len(dots) == 6
    live, recorded = dots[0::2], dots[1::2]
    assert len({dot.get_marker() for dot in live}) == len({d.get_marker() for d in recorded}) == 1
    assert not {dot.get_marker() for dot in dots} & set(MARKERS.values())
    assert [dot.get_color() for dot in live] == [COLORS[b] for b in ("host", *2 * ["torch_cpu"])]
    assert {dot.get_markerfacecolor() for dot in recorded} == {"none"}
    assert "none" not in {dot.get_markerfacecolor() for dot in live}
    assert not axes.patches, "no bars on a log axis"
    assert axes.get_xscale() == "log" and "(log scale)" in axes.get_xlabel()


def test_what_was_not_timed_has_no_dot():
    absent = SimpleNamespace(version="CUDA", backend="gpu", noise="", why="no GPU")
    gone = row("CUDA", (absent, timed(1e-3), timed(2e-3)), (None, None, None))
    axes = plots.side_by_side(together(gone, machines=3)).axes
    assert len([line for line in axes.lines if line.get_marker() != "None"]) == 2


def test_the_largest_size_is_drawn_unless_told():
    other = row("NumPy", (timed(1.0), timed(2.0)), (None, faster(0.5)), size=20)
    gelu = row("NumPy", (timed(1.0), timed(2.0)), (None, faster(0.5)), op="gelu")
    both = together(other, NUMPY, gelu)
    assert plots.side_by_side(both).alt.startswith("relu, 1,000 ")
    assert plots.side_by_side(both, size=20).alt.startswith("relu, 20 ")
    assert plots.side_by_side(both, "gelu").alt.startswith("gelu, 1,000 ")
    for wrong in (("tanh",), ("gelu", 20)):
        with pytest.raises(ValueError, match="There is relu at 20; relu at 1,000; gelu at 1,000"):
            plots.side_by_side(both, *wrong)


def test_noise_is_said_beside_the_dot():
    assert "B 2× (noisy)" in drawn(plots.side_by_side(BOTH))
