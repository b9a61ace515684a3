"""What hides the machine: whose code runs under a framework, and why NumPy is fast."""

from functools import partial

import numpy as np

from gpulessons.hardware import gpu_count, threads
from gpulessons.ops.reduce import total_in_order, total_python
from gpulessons.profiler.libraries import library_calls
from gpulessons.profiler.recorder import profile

from .claim import claim, holds, limits, refuted
from .evidence import live, missing, ratio_of_calls

LIBRARIES = ("BLAS", "oneDNN", "NNPACK", "cuDNN", "cuBLAS")  # as the names of owners begin


def library_work(given):
    """The profile of a training step: which share of its computation is done by kernels of
    libraries. A sum of numbers by NumPy, by a Python loop, by the same loop compiled, and by NumPy
    again where the numbers are Python's objects.
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
    what = "a small AlexNet's computation that a library does"
    try:
        with threads(1):
            seen = profile(step, steps=3, warm_up=1)
            said = sum(call.seconds for call in library_calls(step))
    except OSError as why:
        return missing(what, str(why))
    computing = sum(each.seconds for each in seen.kernels())
    return (live(what, min(1.0, said / computing), "%") if said
            else missing(what, "no library said anything"))  # fmt: skip


def on_gpu_share(six):
    what = "a small AlexNet's computation on a GPU that a library does"
    if not gpu_count():
        return missing(what, "no GPU here")
    trainee = six.Trainee(six.Size("AlexNet", 16), "cuda")
    return live(what, library_share(partial(six.step, trainee)), "%", of_gpu=True)


@claim(
    7, "Frameworks hide CUDA: the heavy parts are library kernels (cuDNN); NumPy is fast because "
    "its loops are C.", source="A", notebooks="01 10", measure=library_work,
    changes="A network of many small operators, whose time is in no kernel at all; or a compiler "
    "that writes the kernels itself, as torch.compile does.",
)  # fmt: skip
def libraries_compute(products, loop, objects, compiled=None, convolutions=None,
                      gpu_products=None):  # fmt: skip
    found = (f"{products:.0%} of a fully connected step's computation is a library's"
             + (f", {convolutions:.0%} of a small AlexNet's" if convolutions else "")
             + (f", {gpu_products:.0%} of it on a GPU" if gpu_products else ""))  # fmt: skip
    if products < 0.5 or (gpu_products is not None and gpu_products < 0.5):
        return refuted(f"{found}: the heavy parts are not the libraries'.")
    fast = f"NumPy adds numbers {loop:.3g} times as fast as a Python loop"
    if loop < 2:
        return refuted(f"{found}; but {fast}.")
    if objects >= 2:
        more = f", and {compiled:.2g} times as fast as the loop compiled" if compiled else ""
        return limits(f"{found}. {fast}{more}; but its own C loop takes {objects:.2g} times as "
                      "long for Python's objects: C alone is not it.")  # fmt: skip
    if gpu_products is None:
        return limits(f"{found}. {fast}. cuDNN needs a GPU, and none is here.")
    return holds(f"{found}. {fast}.")
