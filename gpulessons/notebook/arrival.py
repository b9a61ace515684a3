"""What the first cell of a notebook says where it has just installed the course: on Colab, say."""

from collections.abc import Iterable

from gpulessons import hardware

ELSE = "Until then kernels run thread by thread, and a GPU's times are modelled."


def say(kept: Iterable[str] = ()) -> None:
    """Print what was kept as it was ("torch==2.11.0+cu128", …), and whether a kernel runs here."""
    print("Installed gpulessons; kept", *kept)
    print(first_kernel())


def first_kernel() -> str:
    """One sentence or two: that a kernel was compiled and ran on this machine's GPU, or why not."""
    if why := hardware.why_no_gpu():
        return " ".join(filter(None, (why, hardware.other_gpu(), ELSE)))
    name = (hardware.gpu() or {}).get("name", "The GPU")
    try:
        right = counts_to(64)
    except Exception as trouble:  # a driver, a compiler or a library that does not fit the others
        why = (str(trouble).splitlines() or [""])[0] or type(trouble).__name__
        return (f"{name} is here, but Numba cannot use it ({why}): try pip install "
                f"'{hardware.cuda_package()}', then start the kernel again. {ELSE}")  # fmt: skip
    if not right:
        return f"{name} ran a kernel, and its result is wrong: trust no figure of this GPU. {ELSE}"
    return f"A kernel was compiled and ran on {name}: a GPU's times are measured here."


def counts_to(n: int) -> bool:
    """Whether a kernel of n threads, compiled now, writes 0, 1, … on the GPU."""
    import numpy as np
    from numba import cuda

    @cuda.jit
    def count(out):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < out.size:
            out[i] = i

    out = cuda.to_device(np.zeros(n, np.int32))
    count[1, n](out)
    return bool((out.copy_to_host() == np.arange(n)).all())
