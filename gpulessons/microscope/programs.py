"""`with tracing() as launches:` runs CUDA programs on the CPU, every launch traced."""

from __future__ import annotations

import weakref
from contextlib import contextmanager

import numpy as np

from . import device
from .arguments import host_array
from .launch import Launch
from .runner import Tracer, run

SIGNATURES = weakref.WeakKeyDictionary()  # kernels decorated with a signature while tracing


@contextmanager
def tracing():
    """Inside, `from numba import cuda` means the microscope: arrays stay on the host, launches
    append a `Trace`.

    Works on a machine with a GPU or without one; behind it, the process is as it was. Kernels that
    were decorated inside with an explicit signature stay kernels that compile when first launched.
    """
    from numba import cuda

    launches: list = []
    jit, kernel_class = cuda.jit, type(cuda.jit(lambda: None))
    with (
        replaced(cuda, device.NAMES | {"jit": lazy(jit)}),
        replaced(kernel_class, launchers(launches)),
    ):
        yield launches


@contextmanager
def replaced(owner, names: dict):
    """Other attributes for a while."""
    before = {name: vars(owner)[name] for name in names if name in vars(owner)}
    for name, value in names.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name in names:
            if name in before:
                setattr(owner, name, before[name])
            else:
                delattr(owner, name)


def lazy(jit):
    """`cuda.jit` that never compiles at once: a signature is kept for the launch."""

    def lazy_jit(func_or_sig=None, *args, **options):
        if func_or_sig is None or (
            callable(func_or_sig) and not hasattr(func_or_sig, "return_type")
        ):
            return jit(func_or_sig, *args, **options)

        def decorate(function):
            kernel = jit(**options)(function)
            SIGNATURES[kernel] = func_or_sig
            return kernel

        return decorate

    return lazy_jit


def launchers(launches: list) -> dict:
    """The methods by which a kernel is launched."""

    def configure(kernel, griddim, blockdim, stream=0, sharedmem=0, *_, **__):
        tracer = Tracer(kernel)

        def start(*args):
            launch = Launch(tracer.function, griddim, blockdim, sharedmem)
            launches.append(run(tracer.function, matched(args, SIGNATURES.get(kernel)), launch))

        return start

    def item(kernel, sizes):
        if not isinstance(sizes, tuple) or len(sizes) < 2:
            raise ValueError(
                "launch as kernel[grid, block](…): it takes at least a grid and a block"
            )
        return configure(kernel, *sizes)

    def forall(kernel, ntasks, tpb=0, stream=0, sharedmem=0):
        tpb = tpb or 256
        return configure(kernel, max(1, -(-ntasks // tpb)), tpb, stream, sharedmem)

    def call(kernel, *args, **_):
        raise ValueError("a kernel needs a grid and a block: kernel[grid, block](…)")

    return {"__getitem__": item, "configure": configure, "forall": forall, "__call__": call}


def matched(args, signatures):
    """The arguments as an explicit signature types them; a TypeError where it does not fit."""
    if signatures is None:
        return args
    choices = signatures if isinstance(signatures, list) else [signatures]
    for types in map(argument_types, choices):
        if len(types) == len(args) and all(map(fits, args, types)):
            return tuple(map(typed, args, types))
    raise TypeError(f"the arguments do not match the kernel's signature {signatures}")


def argument_types(signature):
    from numba.core import sigutils

    return sigutils.normalize_signature(signature)[0]


def fits(arg, numba_type) -> bool:
    if not hasattr(numba_type, "ndim"):
        return not hasattr(arg, "ndim") or np.ndim(arg) == 0
    array = host_array(arg, "", []) if hasattr(arg, "dtype") else None
    return (
        array is not None
        and array.ndim == numba_type.ndim
        and array.dtype == dtype_of(numba_type.dtype, array)
    )


def dtype_of(numba_type, array):
    try:
        return np.dtype(str(numba_type))
    except TypeError:  # records and the like: taken on trust
        return array.dtype


def typed(arg, numba_type):
    try:
        return (
            arg
            if hasattr(numba_type, "ndim")
            else np.asarray(arg).astype(np.dtype(str(numba_type)))[()]
        )
    except TypeError:
        return arg
