"""cmath's functions, in the types that Numba gives them."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np

from ..faults import Untypable
from .functions import ARCS, FUNCTIONS
from .overloads import COMPLEX, REALS, Overloads, alike
from .values import Instruction, as_type, dtype_of, plain
from .warps import Warps

COMPLEX128 = np.dtype("complex128")
ROOTS = "sqrt exp log log10 sin cos tan sinh cosh tanh"
NOT_OF_REALS = {"acosh", "cosh", "sinh", "tanh", "log10", "phase", "polar"}
WIDENED = {"acosh", "tanh", "log10"}  # to complex128, whatever they are of


def of_complex(function: Callable[..., Any], name: str, arguments: int = 1) -> Instruction:
    """One of cmath's functions; real numbers become complex, where Numba takes them."""
    overloads = Overloads(f"cmath.{name}()", alike(COMPLEX, arguments))

    def apply(w: Warps, *values: Any) -> Any:
        check(w, name, values[0])
        dtype = overloads(*map(dtype_of, values)).result
        out = function(*(as_type(value, dtype) for value in values))
        return plain(as_type(out, COMPLEX128) if name in WIDENED else out)

    return apply


def check(w: Warps, name: str, value: Any) -> None:
    if name in NOT_OF_REALS and dtype_of(value).kind != "c":
        what = f"cmath.{name}() of {dtype_of(value)}: write complex(x, 0)"
        raise Untypable(what, w.line, w.function)


def log(w: Warps, z: Any, base: Any = None) -> Any:
    return LOG(w, z) if base is None else LOG_TO_BASE(w, z, base)


def polar(w: Warps, z: Any) -> tuple:
    check(w, "polar", z)
    return FUNCTIONS[abs](w, z), PHASE(w, z)


def rect(w: Warps, r: Any, angle: Any) -> Any:
    """cmath.rect, in which 0 stays 0 at any angle."""
    given = [dtype_of(r), dtype_of(angle)]
    if not all(dtype.name in REALS for dtype in given):
        raise Untypable(f"cmath.rect() of {' and '.join(map(str, given))}", w.line, w.function)
    dtype = np.result_type(*given)
    r, angle = as_type(r, dtype), as_type(angle, dtype)

    def along(part: Any) -> Any:
        product = np.where((part == 0) & np.isinf(r), part / r, r * part)
        return np.where((r == 0) & ~np.isfinite(angle), 0, product).astype(dtype)[()]

    re = np.where(np.isinf(r) & ~np.isfinite(angle), r, along(np.cos(angle)))
    return FUNCTIONS[complex](w, re.astype(dtype)[()], along(np.sin(angle)))


def exp(z: Any) -> Any:
    """exp, which is +0 at -∞ in every direction that is none."""
    nowhere = np.isneginf(np.real(z)) & ~np.isfinite(np.imag(z))
    return np.where(nowhere, 0, np.exp(z)).astype(np.asarray(z).dtype)[()]


LOG = of_complex(np.log, "log")
LOG_TO_BASE = of_complex(lambda z, base: np.log(z) / np.log(base), "log", 2)
PHASE = of_complex(np.angle, "phase")


def of_cmath() -> dict[Any, Instruction]:
    names = {name: name for name in ROOTS.split()} | ARCS
    names |= {name: name for name in ("isnan", "isinf", "isfinite")}
    table = {getattr(cmath, n): of_complex(getattr(np, long), n) for n, long in names.items()}
    table |= {cmath.exp: of_complex(exp, "exp"), cmath.log: log, cmath.phase: PHASE}
    return table | {cmath.polar: polar, cmath.rect: rect}


CMATH = of_cmath()
