"""Claims about frameworks: who is ahead in them, whose code they run, and what a call costs."""

from functools import partial

import numpy as np

from gpulessons import units
from gpulessons.hardware import gpu_count, threads
from gpulessons.measure.turns import alternate
from gpulessons.ops.conv2d import conv2d
from gpulessons.ops.dense import dense
from gpulessons.ops.lstm_sequence import lstm_sequence
from gpulessons.ops.optimizer_step import adam_step
from gpulessons.ops.reduce import total_python
from gpulessons.profiler.recorder import profile
from gpulessons.units import percent, three_digits

from .claim import A_GPU, claim, holds, limits, refuted, untested, weakest
from .evidence import SECONDS, counted, from_gpu, live, missing, paired, timed

# Three of the six networks of 2017.

LAYERS = {  # the network, one layer of its kind, and that layer in PyTorch
    "fcn": ("FCN-5", dense, "PyTorch on {}"),
    "resnet": ("ResNet", conv2d, "PyTorch on {}"),
    "lstm": ("LSTM-32", lstm_sequence, "PyTorch, nn.LSTM, {}"),
}


def networks_on_both(given):
    """A training step of three of the six networks in PyTorch, on the CPU and on a GPU, with the
    same minibatch. Without a GPU, recordings decide: of PyTorch's layers of the three kinds.
    """
    from gpulessons.models import six_networks as six  # here: it loads PyTorch

    figures = {}
    for key, (name, *layer_of_its_kind) in LAYERS.items():
        step = six.timed(six.fitted(six.FULL[name]), seconds=1.5)
        shrunk = f" ({step.size.shrunk()})" if step.size.shrunk() else ""
        figures[key] = live(f"{name}, one step on the CPU{shrunk}", step.cpu, "s")
        figures[f"gpu_{key}"] = gpu_of(given, step, *layer_of_its_kind)
    return figures


def gpu_of(given, step, op, version):
    """A network's step on the CPU over its step on a GPU; without a GPU, a layer's, as recorded."""
    if step.gpu is not None:
        return live(f"{step.name}, a step on the CPU over one on a GPU, time", step.cpu / step.gpu,
                    "×", of_gpu=True)  # fmt: skip
    cpu, gpu = version.format("CPU"), version.format("GPU")
    return from_gpu(
        given, f"a layer of {step.name}'s kind ({op.name}), PyTorch, CPU over GPU, time", op,
        lambda run: timed(run, cpu).wait / timed(run, gpu).wait, size=max(op.sizes),
        versions=(cpu, gpu),
    )  # fmt: skip


@claim(
    6, "In every framework the GPU beats the CPU (the 2017 framework benchmark).", source="A",
    notebooks="10", measure=networks_on_both,
    changes="Other frameworks, which are not measured. And networks or minibatches so small that a "
    "GPU mostly waits to be asked.", about_gpus=True,
)  # fmt: skip
def gpu_beats_cpu(fcn, resnet, lstm, gpu_fcn=None, gpu_resnet=None, gpu_lstm=None):
    kinds = {"fully connected": gpu_fcn, "convolutions": gpu_resnet, "LSTM": gpu_lstm}
    known = {kind: factor for kind, factor in kinds.items() if factor is not None}
    if not known:
        return untested(f"A step takes the CPU {units.seconds(fcn)} (FCN-5), "
                        f"{units.seconds(resnet)} (ResNet) and {units.seconds(lstm)} (LSTM-32). "
                        "No GPU was timed beside it.")  # fmt: skip
    won = sum(factor > 1 for factor in known.values())
    each = ", ".join(f"{kind} {units.ratio(factor)}" for kind, factor in known.items())
    found = f"In PyTorch the GPU is ahead in {won} of {len(known)} kinds of work: {each}"
    if not won:
        return refuted(f"{found}.")
    return limits(f"{found}. PyTorch is one framework; of others nothing is measured.")


# Whose code runs, and why NumPy is fast.

LIBRARIES = ("BLAS", "oneDNN", "NNPACK", "cuDNN", "cuBLAS")  # as the names of owners begin


def library_work(given):
    """The profile of a training step, on the CPU and on a GPU: which share of its computation is
    done by kernels of libraries. A sum of numbers by NumPy, by a Python loop, and by NumPy again
    where the numbers are Python's objects.
    """
    from gpulessons.models import six_networks as six  # here: it loads PyTorch

    dense = six.Trainee(six.Size("FCN-5", 64, narrower=8))
    x = np.random.default_rng(0).random(100_000, np.float32)
    out, objects = np.empty(1, np.float32), x.astype(object)
    what = "a small AlexNet's computation on a GPU that a library does"
    on_gpu = gpu_count() and six.Trainee(six.Size("AlexNet", 16), "cuda")

    def over_numpy(what, call):
        return paired(f"{what} over NumPy's", {what: call, "NumPy": lambda: np.sum(x)})

    return {
        "products": live("a fully connected network's computation that a library does",
                         library_share(partial(six.step, dense)), "%"),
        "loop": over_numpy("a Python loop's sum", partial(total_python, x, out)),
        "objects": over_numpy("NumPy's sum of objects", lambda: np.sum(objects)),
        "gpu_products": live(what, library_share(partial(six.step, on_gpu)), "%", of_gpu=True)
        if on_gpu else missing(what, "no GPU", A_GPU),
    }  # fmt: skip


def library_share(step):
    """Of a step's computing time, the share of kernels whose name points to a library."""
    with threads(1):  # where cores are shared, those who wait for each other are measured too
        kernels = list(profile(step, steps=3, warm_up=1).kernels())
    known = sum(each.seconds for each in kernels if each.owner.startswith(LIBRARIES))
    return known / sum(each.seconds for each in kernels)


@claim(
    7, "Frameworks hide CUDA: the heavy parts are library kernels (cuDNN); NumPy is fast because "
    "its loops are C.", source="A", notebooks="01 10", measure=library_work,
    changes="A network of many small operators, whose time is in no kernel at all; or a compiler "
    "that writes the kernels itself, as torch.compile does.", about_gpus=True,
)  # fmt: skip
def libraries_compute(products, loop, objects, gpu_products=None):
    return weakest(
        heavy_parts_are_library_kernels=libraries_work(products, gpu_products),
        NumPy_is_fast_by_its_C=fast_by_c(loop, objects),
    )


def libraries_work(products, gpu_products):
    found = f"{percent(products)} of a fully connected step's computation is a library's"
    if gpu_products is not None:
        found += f"; on a GPU {percent(gpu_products)} of a small AlexNet's"
    least = min(share for share in (products, gpu_products) if share is not None)
    if least < 0.5:
        return refuted(f"{found}: the heavy parts are not the libraries'.")
    if gpu_products is None:
        return untested(f"{found}. No GPU was timed, so of cuDNN nothing is known.")
    return holds(f"{found}.")


def fast_by_c(loop, objects):
    fast = f"NumPy adds numbers {three_digits(loop)} times as fast as a Python loop"
    if loop < 2:
        return refuted(f"{fast}.")
    if objects >= 2:
        return limits(f"{fast}; but its own C loop takes {three_digits(objects)} times as long for "
                      "Python's objects: C alone is not it.")  # fmt: skip
    return holds(f"{fast}.")


# Calls by the bazillion.

CALLS = 20 * (1_437 // 32)  # steps of a training: 20 epochs of digits, 32 at a time


def calls_of_a_training(given):
    """Adam's step on the parameters of a small network for digits, in separate operators and as one
    compiled call, in turn: what a call saves, and in how many steps of a training.
    """
    w = np.random.default_rng(0).standard_normal(64 * 128 + 128 * 10, np.float32)
    state = w, w / 10, np.zeros_like(w), np.zeros_like(w), 1
    versions = [adam_step.versions[name] for name in
                ("PyTorch, separate operators, CPU", "Numba, fused")]  # fmt: skip
    calls = {each.name: each.bound(map(each.backend.put, state), each.empty(*state))
             for each in versions}  # fmt: skip
    with threads(1):
        separate, fused = (spread.median for _, spread in alternate(calls, SECONDS))
    return {
        "calls": counted("calls to Adam in the training, one a step", CALLS),
        "separate": live("a call in separate operators", separate, "s"),
        "fused": live("one compiled call", fused, "s"),
    }


@claim(
    8, "A gradient computed a bazillion times: small savings per call compound over a training "
    "run.", source="A", notebooks="06 10", measure=calls_of_a_training,
    changes="Wider layers: the same saving is a smaller share of a longer step. Nothing makes a "
    "share grow with the number of steps.",
)  # fmt: skip
def savings_compound(calls, separate, fused):
    saved = separate - fused
    if saved < 0.01 * separate:
        return refuted(f"One call in each of {calls:,.0f} steps saves nothing: the run is no "
                       "shorter.")  # fmt: skip
    return limits(f"One call in each of {calls:,.0f} steps saves {units.seconds(saved)} of "
                  f"{units.seconds(separate)}, and {units.seconds(calls * saved)} in all. It adds "
                  "up and does not compound: the share stays as it is.")  # fmt: skip
