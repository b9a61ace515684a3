"""Every picture of the course is drawn once: it has words, and nothing that a theme would hide."""

import dataclasses
import importlib
import math
import re
from types import SimpleNamespace as Of

import numpy as np
import pytest

from gpulessons.evidence import published
from gpulessons.models.decoder import Shape

SIZES = 1000, 100_000


def timed(version, backend, *seconds, op="relu", **more):
    """Timings of one version, at one size after the other."""
    from gpulessons.measure.results import Timing

    fields = {field.name: 0 for field in dataclasses.fields(Timing)}
    return tuple(
        Timing(**{**fields, "op": op, "version": version, "backend": backend, "size": size,
                  "samples": (0.98 * t, t, 1.02 * t), "waits": (t,), "flops": size, "cold": True,
                  "bytes": 8 * size, "arithmetic": "", "h2d": t, "d2h": t, "first": t, **more})
        for size, t in zip(SIZES, seconds, strict=False)
    )


def modelled(gpu, *seconds, version="CUDA, naive", **more):
    from gpulessons.measure.results import Comparison, ModelledTiming

    entries = [
        ModelledTiming("relu", version, "gpu", size, gpu, t, t / 2, 2 * t, "DRAM", "latency",
                       "machine code", size, 8 * size, 8e12, 3e11, **more)
        for size, t in zip(SIZES, seconds, strict=False)
    ]
    return Comparison("relu", tuple(entries), gpu, "2026-11-22", "modelled")


def compared(*entries, **more):
    from gpulessons.measure.results import Absent, Comparison

    gone = [Absent("relu", "CUDA, naive", "gpu", size, "no GPU here") for size in SIZES]
    given = {"op": "relu", "entries": (*entries, *gone), "machine": "a machine",
             "date": "2026-11-05"}
    return Comparison(**{**given, **more})


def step_events():
    """Four lines of a step as a profiler tells them, in microseconds."""
    spans = (("ProfilerStep#1", 0, 90), ("Optimizer.zero_grad#SGD", 1, 5), ("aten::linear", 6, 20),
             ("aten::addmm", 8, 19), ("autograd::engine: x", 30, 50), ("aten::mm", 31, 45),
             ("Optimizer.step#SGD.step", 60, 80), ("aten::add_", 61, 70))  # fmt: skip
    return [Of(name=name, time_range=Of(start=a, end=b)) for name, a, b in spans]


CPU = ("NumPy", "host", 1e-6, 1e-4), ("Numba, every core", "host", 2e-6, 5e-5)
TORCH = "PyTorch on CPU", "torch_cpu", 3e-6, 9e-5


def live():
    return compared(*(one for each in (*CPU, TORCH) for one in timed(*each)))


def on_paper():
    return dataclasses.replace(live(), modelled=(modelled("T4", 3e-6, 8e-6),))


class Card:
    """A machine with made-up ceilings."""

    name, last_cache = "a card", 2**23

    def ceiling(self, backend, what):
        return 1e12 if what == "float32" else 1e11

    def bandwidth(self, backend):
        return 1e11


def random(*shape):
    return np.random.default_rng(0).random(shape)


def huffman():
    """The tree of a, b, c and d: 0, 10, 110, 111."""
    return Of(children=np.array([[-1, 1], [-2, 2], [-3, -4]]), starts=np.array([0, 1, 3, 6, 9]),
              turns=np.array([0, 1, 0, 1, 1, 0, 1, 1, 1]))


def trained(*offsets):
    """Workers that compute, send, and compute again, step by step."""
    return [Of(seconds=3.0, losses=[3.0, 2.0, 1.0], bytes=300.0,
               events=[event for k in range(3) for event in
                       (("compute", 3 * k, 3 * k + 1), ("communicate", 3 * k + 0.8 + o, 3 * k + 2),
                        ("compute", 3 * k + 2, 3 * k + 2.5))]) for o in offsets]


def tasks():
    from gpulessons.workers import simulate

    return simulate("GPipe", 2, 4)


class Findings(list):
    machine, date, sentence = "a machine, of some sort", "2026-01-01", "One claim holds."


def mix():
    part = Of(instructions=10, pipes={"fp32": 4, "alu": 6}, multiply_adds=4, integer=6, loads=0,
              products=4, memory={})
    return Of(main=part, hot=part, capability=(8, 6))


def calibration():
    entries = [Of(scored=True, ratio=True, kind=kind, number=n, factor=n + 0.5, guess=1.0 + n,
                  median=2.0, status=kind, scale=Of(write=str))
               for n, kind in enumerate(("live", "counted"), 1)]
    return Of(title="Two.", words=["A word."], history=Of(entries=entries), distances={},
              scores={"live": Of(factors=[1.5])})


def estimate():
    return Of(ranked=["DRAM", "launch"], bounds={"DRAM": 2e-3, "launch": 1e-6}, limiter="DRAM",
              kernel="k", gpu="T4", at_least=False, low=1e-3, high=3e-3, known=2e-3,
              words="≈ 2 ms", notes=["a note."], share=lambda part: 0.5)




HOGWILD = Of(curve=((0.0, 1.0), (2.0, 0.5), (4.0, 0.1)),
             by_updates=((0, 1.0), (10, 0.5), (20, 0.1)))
GIVEN = {  # {module: {function: how it is called}}; a list: called with each
    "attention": {
        "attending": lambda f: f(["a", "b"], np.array([[0.9, 0.1], [0.4, 0.6]])),
        "binding": lambda f: f(published("attention", source="flash_attention_3", depth=64),
                               {64: {"trips": 2e-12, "products": 2e-13}}),
        "peaks": lambda f: f({"three": {64: 1e6, 128: 4e6}, "tiled": {64: 1e6, 128: 2e6}}),
        "tiling": lambda f: f(published("attention", source="flash_attention_3", depth=64)),
    },
    "conv2d": {
        "patch_and_column": lambda f: f(random(4, 5), random(4, 12), (2, 2), 5),
        "tile_or_columns": lambda f: f({name: (n, "") for n, name in enumerate("abcd", 1)}, "x"),
        "taken": lambda f: f(published("conv2d", device="V100"),
                             {"float32": 1e13, "float16": 1e14}),
    },
    "data_parallel": {
        "rounds": lambda f: f(),
        "timeline": lambda f: f({"late": trained(0, 0.1)}),
        "returns": lambda f: f([Of(batch=b, steps=s, runs=(s,), rate=0.1)
                                for b, s in ((8, 100), (32, 40), (128, 25))]),
    },
    "decoding": {
        "foretold": lambda f: f([20, 10, 5], [2.0, 1.0, 0.6], 0.5, bandwidth=12, by_op=9.0),
        "cards": lambda f: f(Shape(2, 24, 6, 2, 40, 17), 1, 8, 16),
        "by_batch": lambda f: f(published("decoding", source="lmdeploy",
                                          what="tokens of Llama-2-7B"),
                                lambda batch, context: 9e5 / (1e3 / batch + context), lambda n: 40),
    },
    "sharding": {
        "ledgers": lambda f: f("A model", Shape(2, 24, 6, 2, 40, 17), 8, 64, "selective"),
    },
    "dense": {
        "per_example": lambda f: f(live()),
        "on_cards": lambda f: f(published("dense", device="T4"), {"float32": lambda n: 1e-4}),
    },
    "frameworks": {
        "layers": lambda f: f(),
        "floor": lambda f: f({2: 3e-4, 64: 4e-4, 512: 9e-3}, 64, 2),
        "ways": lambda f: f({"eager": {2: 3e-4, 64: 4e-4}, "replayed": {2: 2e-4, 64: 3e-4}}),
        "queue": lambda f: f(15, 2e-6, 2.5e-6),
        "timelines": lambda f: f({"narrow": Of(events=step_events)}, {"narrow": 1e-3}),
    },
    "grid": {"grid_picture": lambda f: f()},
    "huffman": {"drawn": lambda f: f(huffman(), ["a", "b", "c", "d"], "c")},
    "instruction_mix": {"mixes": lambda f: f([("one", mix())])},
    "kitchen": {"picture": lambda f: f(6)},
    "latency_hiding": {"latency_hiding": lambda f: f(),
                       "by_law": lambda f: f(
                           {key: {1: 2e7, 4: 7e7} for key in "ab"}, ("chains", str),
                           ("rate", str), "One.")},
    "learning_curves": {
        "curves": lambda f: f({"a": HOGWILD, "b": HOGWILD}),
    },
    "lstm": {
        "cell": lambda f: f(32, 256, 128), "chain": lambda f: f({1: (2, 1), 8: (9, 8)}, 1.5),
        "waiting": lambda f: f(), "fading": lambda f: f({"bias 0": [1.0, 1e-3, 1e-9]}),
        "rungs": lambda f: f([("slow", *timed("a", "host", 1e-3), 5), ("none", "no GPU", 5),
                              ("fast", *timed("a", "host", 1e-4), 5)], 1e9),
        "steps_published": lambda f: f(published("lstm", device="V100", dtype="float16")),
    },
    "matmul_ladder": {
        "rungs": lambda f: f({"coalesced": 0.1}),
    },
    "microbenchmarks": {
        "by_warps": lambda f: f(drawn={2: 100, 64: 1_000})},
    "online_softmax": {"Sweep": lambda f: f([1.0, 3.0, 2.0, 5.0, 0.0], 2)},
    "pipeline": {
        "gantt": lambda f: f({"GPipe": tasks()}),
        "cuts": lambda f: f(),
        "winners": lambda f: f({"a": lambda b, d: 3.0, "b": lambda b, d: float(b)},
                               np.array([1, 2, 4, 8, 16]), np.array([10, 20])),
        "cut_layers": lambda f: f(),
    },
    "ring_all_reduce": {"Ring": lambda f: f(np.arange(9).reshape(3, 3))},
    "rivals": {"rivals": lambda f: f(live(), 8e8, [1.0, 2.0])},
    "roofs": {"against": lambda f: f(
        [("all", {1: 1.0, 10: 9.0}, {}), ("tree", {1: 1.0, 10: 2.0}, {"marker": "o"})],
        lambda n: 2.0, "tree", {"T4": lambda n: 0.1 * n}, [1, 10, 100], ("classes", str),
        title="One.", brute="all", what="time")},
    "samples": {"in_order": lambda f: f([1e-6, 2e-6, 9e-6]),
                "side_by_side": lambda f: f({"first call": 9e3, "not waited": 0.01})},
    "scenes": {
        "warps": lambda f: f({"sorted": np.arange(64), "shuffled": np.arange(64)[::-1]}),
        "prices": lambda f: f({name: {"iterations, counted": 1, "time, measured": time,
                                      "time, published": 5.0} for name, time in
                               (("sorting", 3.0), ("pixels", None), ("words", 1.2))}),
    },
    "serving": {
        "over_requests": lambda f: f({1: 9.0, 5: 2.0}, 0.5, "$9, then $2",
                                     {"yours": {1: 9.0, 2: 5.0}, "nothing drawn": {}}),
        "over_load": lambda f: f({"rent": ([3e3, 1e6], [9, 1], [9, 2])}, 0.5, 2e4, "A day"),
        "over_speed": lambda f: f({1: (50, 9.0), 5: (40, 2.0), 9: (40, 2.0)}, 0.5),
    },
    "tiles": {"tile": lambda f: f("2-D register tile"), "mma": lambda f: f(),
              "five_by_five": lambda f: f()},
    "transfers": {"by_layers": lambda f: f({"pageable": {1: 0.5, 2: 2}, "pinned": {1: 1, 2: 3}},
                                             {1: 2}),
                  "rates": lambda f: f(2e10)},
    "verdicts": {"at_a_speed": lambda f: f({"old": [(20, 900), (110, 90)], "a new (modelled)":
                                            [(20, 1800), (110, 900)]}, "old", "a new", {110: 10}),
                 "as_printed": lambda f: f(published("gain", source="nvidia_blog")[0])},
    "waves": {"waves": lambda f: f()},
}
PLOTS = {
    "timings": {
        "scaling": lambda f: f(on_paper()), "bars": lambda f: f(on_paper()),
    },
    "picture": {"images": lambda f: f({"a": random(8, 9), "b": random(8, 9, 3)}, "Two.")},
    "modelled": {"bounds": lambda f: f(estimate())},
    "calibration": {"reliability": lambda f: f(calibration())},
    "roofline": {"roofline": lambda f: f(Card(), timed(*CPU[0]))},
}
ALL = [(f"gpulessons.{room}.{module}", name) for room, given in
       (("illustrations", GIVEN), ("plots", PLOTS))
       for module, functions in given.items() for name in functions]


def drawn(home, name):
    """[the pictures of one function]: of a film its first step and all of them."""
    module = importlib.import_module(home)
    given = GIVEN if "illustrations" in home else PLOTS
    shown = given[home.rpartition(".")[2]][name](getattr(module, name))
    return [shown.figure(0), shown.multiples()] if hasattr(shown, "multiples") else [shown]


@pytest.fixture(autouse=True)
def without_a_layout(monkeypatch):
    """Half of the time goes to finding room for words, which is not asked for here."""
    monkeypatch.setattr("matplotlib.layout_engine.ConstrainedLayoutEngine", lambda **room: None)


SLOW = {"tree"}  # compiles the forest's search


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("home", "name"), [
    pytest.param(home, name, id=name, marks=[pytest.mark.nightly] * (name in SLOW))
    for home, name in ALL
])
def test_a_picture_is_drawn_with_words_in_ink_that_follows_the_theme(home, name):
    for picture in drawn(home, name):
        assert len(picture.alt) > 20 and repr(picture) == picture.alt
        assert not re.search(r"\bnan\b|None|\{|0x", picture.alt), picture.alt
        svg = picture.svg
        assert "currentColor" in svg and len(svg) < 150_000
        # Black and white are hidden by one theme or the other, except as words on a colored area.
        outside = re.sub(r"<text[^>]*>", "", svg)
        assert not re.search(r'(?:fill|stroke)="(?:#000000|#ffffff|black|white)"', outside)
        assert not math.isnan(picture.width)
        lit = [found.split() for found in re.findall(r'class="lit([\w ]*)"', svg)]
        for part in picture.words.values():  # each has something to light, and something to dim
            assert {part in each for each in lit} == {True, False}, part


def test_every_picture_has_its_place_here():
    """A function that is annotated to return a Picture is in one of the tables above."""
    import ast
    from pathlib import Path

    import gpulessons

    missing = []
    for room, given in (("illustrations", GIVEN), ("plots", PLOTS)):
        for path in (Path(gpulessons.__file__).parent / room).glob("*.py"):
            if path.stem in {"traces", "player", "trace_drawing", "published_times", "forms"}:
                continue
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                returns = ast.unparse(node.returns) if getattr(node, "returns", None) else ""
                if returns in ("Picture", "Drawing") and node.name not in given.get(path.stem, {}):
                    missing.append(f"{path.stem}.{node.name}")
    assert not missing
