"""The picture of a step: its lines, its lanes, and bars where their times are."""

from gpulessons.profiler.result import Profile
from gpulessons.profiler.spans import KINDS, Event, phases, spans

MAIN = 100


def training(*more):
    """One step of training: what autograd calls, and around it the lines of Python."""
    return spans([
        Event("Optimizer.zero_grad#SGD.zero_grad", 0.0, 0.1, MAIN, annotation=True),
        Event("aten::linear", 0.12, 0.2, MAIN), Event("aten::addmm", 0.14, 0.19, MAIN),
        Event("aten::mse_loss", 0.22, 0.3, MAIN), Event("aten::ones_like", 0.35, 0.36, MAIN),
        Event("autograd::engine::evaluate_function: MseLossBackward0", 0.4, 0.5, MAIN),
        Event("autograd::engine::evaluate_function: AddmmBackward0", 0.55, 0.7, MAIN), *more,
        Event("Optimizer.step#SGD.step", 0.8, 1.0, MAIN, annotation=True),
        Event("aten::add_", 0.9, 0.95, MAIN),
    ], MAIN)  # fmt: skip


def texts(picture):
    return [text.get_text() for text in picture.axes.texts]


def test_the_lines_of_a_training_step_are_told_from_its_spans_and_drawn_above_it():
    assert phases(training()) == [
        ("zero_grad", 0.0, 0.1), ("forward", 0.12, 0.3), ("backward", 0.35, 0.7),
        ("update", 0.8, 1.0),
    ]  # fmt: skip
    drawn = texts(Profile(training(), 1.0, plain=0.8).timeline())
    assert {"zero_grad", "forward", "backward", "update"} <= set(drawn)
    between = Event("aten::linear", 0.52, 0.53, MAIN)  # a second micro-batch: no such lines
    assert phases(training(between)) == []
    assert "forward" not in texts(Profile(training(between), 1.0).timeline())


def test_bars_stand_where_their_times_are_under_names_of_lanes_and_with_a_legend():
    found = spans([Event("aten::mm", 0.25, 0.75, MAIN), Event("k", 0.5, 0.9, 7, True)], MAIN)
    picture = Profile(found, 1.0).timeline()
    assert [label.get_text() for label in picture.axes.get_yticklabels()] == [
        "the split", "operators", "GPU",
    ]  # fmt: skip
    edges = {(round(x, 3), round(y)) for bars in picture.axes.collections
             for path in bars.get_paths() for x, y in path.vertices}  # fmt: skip
    assert {(0.25, 1), (0.75, 1), (0.5, 2), (0.9, 2)} <= edges
    assert "mm" in texts(picture) and set(KINDS) == {
        text.get_text() for text in picture.figure.legends[0].get_texts()
    }
    assert picture.alt == Profile(found, 1.0).message == repr(picture)
    assert "<img" in picture._repr_mimebundle_()["text/html"]
