"""Pictures and tables of frameworks: they say what was measured, and draw what they say."""

import pytest
from matplotlib.colors import to_rgb

from gpulessons.illustrations import frameworks as draw
from gpulessons.models.six_networks import Size, StepTime
from gpulessons.plots.picture import BLUE, COLORS

ROWS = [
    StepTime(Size("FCN-5", 8), 118_000_000, 0.4, None, "no GPU here"),
    StepTime(Size("AlexNet", 16), 90_000, 0.03, None, "no GPU here"),
]
WITH_A_GPU = [
    StepTime(Size("FCN-5", 64), 118_000_000, 0.4, 0.01, ""),
    StepTime(Size("AlexNet", 16), 90_000, 0.03, 0.06, ""),
    StepTime(Size("ResNet", 16), 850_000, 0.2, 0.1, ""),
]


def test_without_a_gpu_no_gpu_is_drawn_and_the_title_says_so():
    picture = draw.six(ROWS)
    assert repr(picture).startswith(
        "A step takes this CPU 30 ms (AlexNet) to 400 ms (FCN-5). No GPU was measured."
    )
    assert [line.get_xdata()[0] for line in picture.axes.lines] == [0.4, 0.03]
    assert {line.get_color() for line in picture.axes.lines} == {COLORS["torch_cpu"]}
    assert "diamonds" not in picture.axes.get_xlabel()


def test_with_a_gpu_the_title_counts_where_it_is_ahead_and_by_how_much():
    picture = draw.six(WITH_A_GPU)
    assert repr(picture).startswith("The GPU is ahead in 2 of 3 networks: 0.5× to 40×")
    assert [line.get_xdata()[0] for line in picture.axes.lines] == [0.4, 0.01, 0.03, 0.06, 0.2, 0.1]
    assert "diamonds: GPU" in picture.axes.get_xlabel()


def test_a_table_reads_as_text_and_as_html_with_what_was_shrunk():
    table = draw.steps_table(ROWS, "a machine")
    assert "batch 8 instead of 64" in repr(table) and "in full" in repr(table)
    assert repr(table).count("not measured: no GPU here") == 2
    assert "live: a machine" in table._repr_html_()
    assert table._repr_html_().count("<tr>") == 3
    assert draw.steps_table(WITH_A_GPU, "m").rows[0][4] == "10 ms"


def test_a_row_whose_steps_differ_is_marked_and_the_mark_explained():
    quiet, busy = (StepTime(Size("AlexNet", 16), 1, 0.03, None, "", spread) for spread in (0.1, 2))
    table = draw.steps_table([quiet, busy], "m")
    assert [row[3] for row in table.rows] == ["30 ms", "30 ms ~"]
    assert "~ noisy: one step took at least 1.25 times as long" in table.notes[-1]
    assert "noisy" not in repr(draw.steps_table([quiet], "m"))


def test_the_layers_are_named_from_python_down_to_the_hardware():
    picture = draw.layers("c = a + b", cpu="MKL", gpu="cuBLAS")
    words = repr(picture)
    assert words.startswith("Four layers lie under one line of Python.")
    places = [words.index(name) for name in ("c = a + b", "aten::", "MKL", "cores")]
    assert places == sorted(places)
    assert len(picture.axes.patches) == 5


@pytest.mark.parametrize(("operators", "trips"), [(("a", "b", "c"), 9), (("a", "b"), 6)])
def test_a_write_counts_twice_in_the_picture_as_it_does_in_the_model(operators, trips):
    picture = draw.passes(operators)
    assert f"{trips} trips to memory" in repr(picture)
    boxes = [text.get_text() for text in picture.axes.texts if text.get_bbox_patch()]
    assert boxes.count("memory") == len(operators) + 1 + 2
    assert boxes[-2] == ", ".join(operators)
    arrows = [each.arrowprops["arrowstyle"] for each in picture.axes.texts if each.get_text() == ""]
    assert len(arrows) + arrows.count("<->") == trips + 3


def test_a_step_s_shares_fill_its_bar_in_the_timeline_s_colors():
    narrow = {"compute": 0.3, "launch and Python": 0.6, "memory": 0.0, "idle": 0.1}
    picture = draw.shares({"narrow step": narrow, "wide step": {**narrow, "compute": 0.99}})
    assert repr(picture).startswith("Compute is 30% of the narrow step, 99% of the wide step.")
    bars = picture.axes.patches[:4]
    assert [bar.get_width() for bar in bars] == pytest.approx(list(narrow.values()))
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(1)
    assert bars[0].get_facecolor()[:3] == to_rgb(BLUE) and not bars[-1].get_fill()


def test_percents_add_up_to_a_hundred_as_those_of_the_timeline_do():
    split = {"compute": 0.273, "launch and Python": 0.664, "memory": 0.063, "idle": 0.0}
    said = {"compute": "27%", "launch and Python": "67%", "memory": "6%", "idle": "0%"}
    assert draw.in_words(split) == said


def test_dots_stand_where_the_times_are_and_say_them():
    picture = draw.dots({"a": 1e-6, "b": 2e-3}, title="Two.")
    assert [line.get_xdata()[0] for line in picture.axes.lines] == [1e-6, 2e-3]
    assert repr(picture) == "Two. a: 1 µs; b: 2 ms."
    assert "log scale" in picture.axes.get_xlabel()


def test_dots_have_the_colors_of_who_computes():
    names = ("NumPy", "torch.sum", "PyTorch, launching on a GPU")
    picture = draw.dots(dict.fromkeys(names, 1e-6), title="Three.")
    wanted = [COLORS[backend] for backend in ("host", "torch_cpu", "torch_gpu")]
    assert [line.get_color() for line in picture.axes.lines] == wanted


def test_a_saving_is_a_product_of_three_numbers_and_a_share_of_each_run():
    picture = draw.saved({"narrow": 1e-3, "wide": 1.0}, microseconds=2, calls=100, count=1e6)
    said = "3.33 minutes saved: 20% of the narrow's run, 0.02% of the wide's run."
    assert repr(picture).startswith(said)
    run, gain, *_ = (line.get_xdata()[0] for line in picture.axes.lines)
    assert (run, gain) == (pytest.approx(1e3), pytest.approx(200))
    labels = [text.get_text() for text in picture.axes.texts]
    assert labels[:2] == ["16.7 minutes", "3.33 minutes"]
    ticks = [tick.get_text() for tick in picture.axes.get_xticklabels()]
    assert ticks == ["1 hour", "1 day", "1 week"]


def test_nobody_can_save_more_than_all():
    picture = draw.saved({"narrow": 1e-4}, microseconds=2, calls=100, count=10)
    assert "more than all of the narrow's run" in repr(picture)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.5, "500 ms"), (119, "119 s"), (600, "10 minutes"), (259_200, "3 days"), (9e9, "285 years"),
     (60, "1 minute"), (604_800, "1 week")],
)
def test_a_duration_is_said_in_the_unit_that_people_plan_with(seconds, words):
    assert draw.duration(seconds) == words
