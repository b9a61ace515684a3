"""Claims about frameworks: who is ahead in them, whose code they run, and what a call costs."""

from functools import partial
from statistics import median
from time import perf_counter

import numpy as np
from numba import njit

from gpulessons import units
from gpulessons.hardware import gpu_count, threads
from gpulessons.hardware.budget import repeated
from gpulessons.models.data import digits
from gpulessons.models.digits import Network, pixels
from gpulessons.ops.common import PARALLEL
from gpulessons.ops.conv2d import conv2d
from gpulessons.ops.dense import dense
from gpulessons.ops.lstm_sequence import lstm_sequence
from gpulessons.ops.optimizer_step import adam_loop, adam_step
from gpulessons.ops.reduce import total_in_order, total_python
from gpulessons.profiler.libraries import library_calls
from gpulessons.profiler.recorder import profile
from gpulessons.units import percent, some, three_digits

from .claim import A_GPU, claim, holds, limits, refuted, untested, weakest
from .evidence import counted, from_gpu, live, missing, ratio_of_calls, share, timed

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
    figures, smaller = {}, 0
    for key, (name, *layer_of_its_kind) in LAYERS.items():
        step = one_step(name)
        smaller += bool(step.size.shrunk())
        how = f" ({step.size.shrunk()})" if step.size.shrunk() else ""
        figures[key] = live(f"{name}, one step on the CPU{how}", step.cpu, "s")
        figures[f"gpu_{key}"] = gpu_of(given, step, *layer_of_its_kind)
    return figures | {
        "smaller": counted("of them with a smaller minibatch or narrower layers than in full",
                           smaller),
    }  # fmt: skip


def one_step(name):
    """The StepTime of one of the six, made as small as this machine wants it."""
    from gpulessons.models import six_networks as six  # brings PyTorch

    return six.timed(six.fitted(six.FULL[name]), seconds=1.5)


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
def gpu_beats_cpu(
    fcn, resnet, lstm, smaller, gpu_fcn=None, gpu_resnet=None, gpu_lstm=None,
):  # fmt: skip
    kinds = {"fully connected": gpu_fcn, "convolutions": gpu_resnet, "LSTM": gpu_lstm}
    known = {kind: factor for kind, factor in kinds.items() if factor is not None}
    made = (f" Of the {len(kinds)} networks {smaller:g} had a smaller minibatch or narrower layers "
            "than in full." if smaller else "")  # fmt: skip
    if not known:
        return untested(f"A step takes the CPU {units.seconds(fcn)} (FCN-5), "
                        f"{units.seconds(resnet)} (ResNet) and {units.seconds(lstm)} (LSTM-32)."
                        f"{made} No GPU was timed beside it.")  # fmt: skip
    won = sum(factor > 1 for factor in known.values())
    each = ", ".join(f"{kind} {units.ratio(factor)}" for kind, factor in known.items())
    found = f"In PyTorch the GPU is ahead in {won} of {len(known)} kinds of work: {each}"
    if not won:
        return refuted(f"{found}.{made}")
    if won < len(known):
        return limits(f"{found}. Below 1× the CPU wins.{made}")
    return limits(f"{found}. PyTorch is one framework; of others nothing is measured."
                  f"{made}")  # fmt: skip


# Whose code runs, and why NumPy is fast.

LIBRARIES = ("BLAS", "oneDNN", "NNPACK", "cuDNN", "cuBLAS")  # as the names of owners begin


def library_work(given):
    """The profile of a training step, on the CPU and on a GPU: which share of its computation is
    done by kernels of libraries. A sum of numbers by NumPy, by a Python loop, by the same loop
    compiled, and by NumPy again where the numbers are Python's objects.
    """
    from gpulessons.models import six_networks as six  # here: it loads PyTorch

    dense, convolving = (six.Trainee(size) for size in (
        six.Size("FCN-5", 64, narrower=8), six.Size("AlexNet", 16)))  # fmt: skip
    x, out = np.random.default_rng(0).random(100_000, np.float32), np.empty(1, np.float32)
    objects = x.astype(object)
    numpy = {"NumPy": lambda: np.sum(x)}

    def over_numpy(what, call):
        return ratio_of_calls(f"{what} over NumPy's", {what: call, **numpy})

    return {
        "products": live("a fully connected network's computation that a library does",
                         library_share(partial(six.step, dense)), "%"),
        "convolutions": asked_share(partial(six.step, convolving)),
        "loop": over_numpy("a Python loop's sum", partial(total_python, x, out)),
        "compiled": over_numpy("the compiled loop's sum", partial(total_in_order, x, out)),
        "objects": over_numpy("NumPy's sum of objects", lambda: np.sum(objects)),
        "gpu_products": on_gpu_share(six),
    }  # fmt: skip


def library_share(step):
    """Of a step's computing time, the share of kernels whose name points to a library."""
    with threads(1):  # where cores are shared, those who wait for each other are measured too
        kernels = list(profile(step, steps=3, warm_up=1).kernels())
    known = sum(each.seconds for each in kernels if each.owner.startswith(LIBRARIES))
    return known / sum(each.seconds for each in kernels)


def asked_share(step):
    """The same, from what the libraries say themselves: a convolution's name does not tell."""
    what = ("a small AlexNet's computation that a library does (one step by the libraries' clock, "
            "over another by the profiler's)")  # fmt: skip
    try:
        with threads(1):
            seen = profile(step, steps=3, warm_up=1)
            said = sum(call.seconds for call in library_calls(step))
    except OSError as why:
        return missing(what, str(why))
    if not said:
        return missing(what, "no library said anything")
    part = said / sum(each.seconds for each in seen.kernels())
    if part > 1:
        return missing(what, f"the two clocks disagree: {three_digits(part)} times the whole")
    return live(what, part, "%")


def on_gpu_share(six):
    what = "a small AlexNet's computation on a GPU that a library does"
    if not gpu_count():
        return missing(what, "no GPU", A_GPU)
    trainee = six.Trainee(six.Size("AlexNet", 16), "cuda")
    return live(what, library_share(partial(six.step, trainee)), "%", of_gpu=True)


@claim(
    7, "Frameworks hide CUDA: the heavy parts are library kernels (cuDNN); NumPy is fast because "
    "its loops are C.", source="A", notebooks="01 10", measure=library_work,
    changes="A network of many small operators, whose time is in no kernel at all; or a compiler "
    "that writes the kernels itself, as torch.compile does.", about_gpus=True,
)  # fmt: skip
def libraries_compute(products, loop, objects, compiled=None, convolutions=None,
                      gpu_products=None):  # fmt: skip
    return weakest(
        heavy_parts_are_library_kernels=libraries_work(products, convolutions, gpu_products),
        NumPy_is_fast_by_its_C=fast_by_c(loop, compiled, objects),
    )


def libraries_work(products, convolutions, gpu_products):
    shares = [share for share in (products, convolutions, gpu_products) if share is not None]
    found = f"{percent(products)} of a fully connected step's computation is a library's"
    if convolutions is not None:
        but = "but only " if convolutions < 0.5 <= products else ""
        found += f", {but}{percent(convolutions)} of a small AlexNet's"
    if gpu_products is not None:
        found += f"; on a GPU {percent(gpu_products)} of a small AlexNet's"
    if max(shares) < 0.5 or (gpu_products is not None and gpu_products < 0.5):
        return refuted(f"{found}: the heavy parts are not the libraries'.")
    if gpu_products is None:
        return untested(f"{found}. No GPU was timed, so of cuDNN nothing is known.")
    return limits(f"{found}.") if min(shares) < 0.5 else holds(f"{found}.")


def fast_by_c(loop, compiled, objects):
    fast = f"NumPy adds numbers {three_digits(loop)} times as fast as a Python loop"
    if compiled:
        fast += f", and {three_digits(compiled)} times as fast as the loop compiled"
    if loop < 2:
        return refuted(f"{fast}.")
    if objects >= 2:
        return limits(f"{fast}; but its own C loop takes {three_digits(objects)} times as long for "
                      "Python's objects: C alone is not it.")  # fmt: skip
    return holds(f"{fast}.")


# Calls by the bazillion.

EPOCHS, MINIBATCH = 20, 32


def calls_of_a_training(given):
    """A network learns digits twice, in PyTorch, step by step in turn: with Adam in separate
    operators, and with Adam as one compiled call. What a step saves in the first half of the
    training, and in the last; and what compiling that call costs once.
    """
    separate, fused = trained_in_turn(separate_adam, fused_adam)
    half = len(separate) // 2
    early, late = (share(fused[part], separate[part]) for part in (slice(half), slice(half, None)))
    saved = median(a - b for a, b in zip(separate, fused, strict=True))
    return {
        "calls": counted("calls to Adam in the training, one a step", len(separate)),
        "saved": live("saved by one call", saved, "s"),
        "early": live("its share of a step, first half of the training", early, "%"),
        "late": live("its share of a step, last half", late, "%"),
        "compiling": live("compiling it, once", seconds_to_compile(), "s"),
    }


def separate_adam(*arrays):
    return adam_step.versions["PyTorch, separate operators, CPU"].function(*arrays)


def fused_adam(w, g, m, v, t):
    w_, g_, m_, v_ = (each.numpy() for each in (w, g, m, v))
    adam_step.versions["Numba, fused"].function(w_, g_, m_, v_, t, (w_, m_, v_))
    return w, m, v


def trained_in_turn(*adams):
    """Seconds of every step of training, for each optimizer. All learn the same minibatches."""
    import torch

    (images, labels), _ = digits()
    x, labels = torch.from_numpy(pixels(images)), torch.from_numpy(labels.astype(np.int64))
    rng, took = np.random.default_rng(0), [[] for _ in adams]
    learners = [learner(adam) for adam in adams]
    with threads(1):
        for epoch in range(1 + repeated(EPOCHS)):  # the first is not counted: it compiles
            deal = rng.permutation(len(x))[: len(x) // MINIBATCH * MINIBATCH]
            for few in torch.from_numpy(deal.reshape(-1, MINIBATCH)):
                for step, times in zip(learners, took, strict=True):
                    began = perf_counter()
                    step(x[few], labels[few])
                    if epoch:
                        times.append(perf_counter() - began)
    return took


def learner(adam):
    """step(x, labels) of a network of two layers, whose parameters are one vector for `adam`."""
    import torch
    from torch.nn.functional import cross_entropy, linear

    start = [torch.from_numpy(p) for p in Network("NumPy").parameters]
    w, t = torch.cat([p.ravel() for p in start]), 0
    m, v = torch.zeros_like(w), torch.zeros_like(w)

    def step(x, labels):
        nonlocal w, m, v, t
        w.requires_grad_()
        parts = w.split([p.numel() for p in start])
        w1, b1, w2, b2 = (part.view(p.shape) for part, p in zip(parts, start, strict=True))
        loss = cross_entropy(linear(torch.sigmoid(linear(x, w1, b1)), w2, b2), labels)
        (gradient,) = torch.autograd.grad(loss, w)
        t += 1
        w, m, v = adam(w.detach(), gradient, m, v, t)

    return step


def seconds_to_compile():
    """Seconds to compile Adam's loop anew."""
    w, one, again = np.zeros(8, np.float32), np.float32(1), njit(**PARALLEL)(adam_loop.py_func)
    began = perf_counter()
    again(w, w, w, w, one, one, w.copy(), w.copy(), w.copy())
    return perf_counter() - began


@claim(
    8, "A gradient computed a bazillion times: small savings per call compound over a training "
    "run.", source="A", notebooks="06 10", measure=calls_of_a_training,
    changes="Wider layers: the same saving is a smaller share of a longer step. Nothing makes a "
    "share grow with the number of steps.",
)  # fmt: skip
def savings_compound(calls, saved, early, late, compiling):
    if saved <= 0:
        return refuted(f"One call in each of {calls:,.0f} steps saves nothing: the run is no "
                       "shorter.")  # fmt: skip
    found = (
        f"One call in each of {calls:,.0f} steps saves {units.seconds(saved)}: "
        f"{percent(early)} of a step in the first half, {percent(late)} in the last"
    )
    if late < 0.01:
        return refuted(f"{found}. In the end it saves less than 1 % of a step.")
    if late > max(1.5 * early, early + 0.1):
        return holds(f"{found}: the longer the run, the larger the share.")
    after = max(1, units.rounded(compiling) / units.rounded(saved))  # as they are printed
    paid = "which this run has" if calls >= after else "more than this run has"
    return limits(f"{found}. It adds up and does not compound: the share does not grow. Compiling "
                  f"takes {units.seconds(compiling)}, paid after {some(after)} calls, {paid}."
                  )  # fmt: skip
