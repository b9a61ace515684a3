"""cuda.libdevice, NVIDIA's library of functions, by the rules of its names.

`sin` is of float64, `sinf` the same of float32, `fast_sinf` the same once more (a GPU is less exact
there). Integers are signed to Numba; a function with a u in its name looks at their bits as
unsigned. What takes pointers in C gives a tuple. Of the library only the Bessel functions are not
here; what rounds as its name says is in `rounded`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np

from .directed import CONVERSIONS, ROUNDED
from .functions import elementwise, gamma
from .overloads import Case, Overloads
from .values import Instruction, as_type, dtype_of, plain
from .warps import Warps

Function = Callable[..., Any]
LETTERS = {"d": "float64", "f": "float32", "i": "int32", "l": "int64", "h": "int16"}


def typed(function: Function, signature: str) -> Instruction:
    """An instruction that converts what it is given, and its results, as "fi->f" says."""
    takes, gives = ([np.dtype(LETTERS[s]) for s in part] for part in signature.split("->"))

    overloads = Overloads("function of libdevice", [Case(gives[0], tuple(takes))])

    def apply(w: Warps, *values: Any) -> Any:
        overloads(*map(dtype_of, values))
        out = function(*(np.asarray(as_type(v, t)) for v, t in zip(values, takes, strict=True)))
        if takes[0].kind == gives[0].kind == "f":
            w.count_flops(gives[0], 1)
            w.by_kernel_line("functions")
        outs = out if isinstance(out, tuple) else (out,)
        done = tuple(plain(np.asarray(o).astype(t)[()]) for o, t in zip(outs, gives, strict=True))
        return done if len(gives) > 1 else done[0]

    return apply


# -- Functions of real numbers. In a signature, T is float64, and float32 for the names with f.


def half_turns(x: Any) -> tuple[Any, Any]:
    """(sin πx, cos πx), exact where πx is a number of quarter turns."""
    rest = np.fmod(x, 2)
    quarter = np.rint(2 * rest)
    angle = (rest - quarter / 2) * x.dtype.type(np.pi)
    sine, cosine, turned = np.sin(angle), np.cos(angle), np.nan_to_num(quarter).astype(int) % 4
    return (
        np.choose(turned, [sine, cosine, -sine, -cosine]),
        np.choose(turned, [cosine, -sine, -cosine, sine]),
    )


def normcdfinv(p: float) -> float:
    if 0 < p < 1:
        return NormalDist().inv_cdf(p)
    return -math.inf if p == 0 else math.inf if p == 1 else math.nan


def erfinv(x: float) -> float:
    out = math.copysign(normcdfinv((1 - abs(x)) / 2) / math.sqrt(2), x)
    if not abs(x) < 0.9:
        return out
    return out - (math.erf(out) - x) * math.sqrt(math.pi) / 2 * math.exp(out * out)


def erfcx(x: float) -> float:
    """exp(x²) erfc(x)."""
    if x < 25:
        return math.exp(x * x) * math.erfc(x)
    return (1 - 0.5 / x**2 + 0.75 / x**4) / (x * math.sqrt(math.pi))


def rounded_away(x: Any) -> Any:
    """To the nearest whole number, halves away from zero."""
    whole = np.trunc(x)
    return whole + np.where(np.abs(x - whole) >= 0.5, np.copysign(1, x), 0)


def exponent(x: Any) -> Any:
    """e of x = m·2^e with 1 ≤ m < 2."""
    out = np.where(np.isinf(x), np.inf, np.frexp(x)[1] - 1.0)
    return np.where(x == 0, -np.inf, np.where(np.isnan(x), x, out))


def whole_exponent(x: Any) -> Any:
    return np.clip(np.nan_to_num(exponent(x), nan=-np.inf), -(2.0**31), 2.0**31 - 1)


def remquo(x: Any, y: Any) -> tuple[Any, Any]:
    """(the remainder of x by y, the last three bits of the quotient with its sign)."""
    rest = REMAINDER(x, y)
    whole = np.rint((x - rest) / y)
    return rest, np.copysign(np.fmod(np.abs(np.nan_to_num(whole)), 8), whole)


def same(names: str) -> dict[str, Function]:
    return {name: getattr(np, name) for name in names.split()}


REMAINDER = elementwise(math.remainder, arguments=2)
ROOTS = "cbrt ceil cos cosh exp exp2 expm1 fabs floor log log10 log1p log2 rint sin sinh sqrt tan "
ARCS = "cos sin tan cosh sinh tanh"
FAMILIES: dict[str, dict[str, Function]] = {
    "T->T": {
        **same(ROOTS + "tanh trunc"),
        **{f"a{name}": getattr(np, f"arc{name}") for name in ARCS.split()},
        "cospi": lambda x: half_turns(x)[1],
        "erf": elementwise(math.erf),
        "erfc": elementwise(math.erfc),
        "erfcinv": elementwise(lambda x: -normcdfinv(x / 2) / math.sqrt(2)),
        "erfcx": elementwise(erfcx),
        "erfinv": elementwise(erfinv),
        "exp10": lambda x: np.power(x.dtype.type(10), x),
        "lgamma": elementwise(math.lgamma, np.inf),
        "logb": exponent,
        "nearbyint": np.rint,
        "normcdf": elementwise(lambda x: math.erfc(-x / math.sqrt(2)) / 2),
        "normcdfinv": elementwise(normcdfinv),
        "rcbrt": lambda x: 1 / np.cbrt(x),
        "round": rounded_away,
        "rsqrt": lambda x: 1 / np.sqrt(x),
        "sinpi": lambda x: half_turns(x)[0],
        "tgamma": elementwise(gamma),
    },
    "TT->T": {
        **same("copysign fmax fmin fmod hypot nextafter"),
        "atan2": np.arctan2,
        "fdim": lambda x, y: np.where(x <= y, 0, x - y),
        "pow": np.power,
        "remainder": REMAINDER,
    },
    "Ti->T": {"ldexp": np.ldexp, "scalbn": np.ldexp, "powi": np.power},
    "T->i": {"ilogb": whole_exponent},
    "T->l": {"llrint": np.rint, "llround": rounded_away},
    "T->TT": {
        "modf": np.modf,
        "sincos": lambda x: (np.sin(x), np.cos(x)),
        "sincospi": half_turns,
    },
    "T->Ti": {"frexp": np.frexp},
    "TT->Ti": {"remquo": remquo},
}
FAST = "cos exp exp10 log log10 log2 pow sin sincos tan"
TESTS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "signbit": np.signbit}


def of_reals() -> dict[str, Instruction]:
    table = {}
    for signature, functions in FAMILIES.items():
        for name, function in functions.items():
            table[name] = typed(function, signature.replace("T", "d"))
            table[f"{name}f"] = typed(function, signature.replace("T", "f"))
    table |= {f"fast_{name}f": table[f"{name}f"] for name in FAST.split()}
    table["fast_fdividef"] = typed(np.true_divide, "ff->f")
    table["saturatef"] = typed(lambda x: np.clip(np.nan_to_num(x, nan=0.0), 0, 1), "f->f")
    for name, test in TESTS.items():
        table[f"{name}d"] = typed(test, "d->i")
        table["finitef" if name == "isfinite" else f"{name}f"] = typed(test, "f->i")
    return table


# -- Functions of integers, as Python's reckon them: of unsigned ones where the name has a u.


def of_bits(function: Callable[[int, int], int]) -> Callable[..., Callable[[int], int]]:
    """A function of a number's bits, and how many they are."""
    return lambda width: lambda x: function(x % 2**width, width)


def permuted(x: int, y: int, chosen: int) -> int:
    """Four of the eight bytes of y and x, each chosen by four bits."""
    both = (y % 2**32) << 32 | x % 2**32
    found = 0
    for place in range(4):
        one = chosen >> 4 * place & 15
        byte = both >> 8 * (one & 7) & 255
        found |= (255 * (byte >> 7) if one & 8 else byte) << 8 * place
    return found


BITS = {
    "brev": lambda bits, width: int(f"{bits:0{width}b}"[::-1], 2),
    "clz": lambda bits, width: width - bits.bit_length(),
    "ffs": lambda bits, width: (bits & -bits).bit_length(),
    "popc": lambda bits, width: bits.bit_count(),
}
PAIRS: dict[str, Callable[[int, int], int]] = {
    "max": max,
    "min": min,
    "hadd": lambda x, y: (x + y) >> 1,
    "rhadd": lambda x, y: (x + y + 1) >> 1,
    "mulhi": lambda x, y: x * y >> 32,
}
LONG_PAIRS: dict[str, Callable[[int, int], int]] = {
    "llmax": max,
    "llmin": min,
    "mul64hi": lambda x, y: x * y >> 64,
}


def of_python(function: Callable[..., int], signature: str, unsigned: bool = False) -> Instruction:
    """The same for vectors; results wrap around."""
    count, width = signature.index("-"), 64 if signature[0] == "l" else 32
    bits = 64 if signature[-1] == "l" else 32

    def one(*values: int) -> int:
        out = function(*(v % 2**width if unsigned else v for v in map(int, values)))
        return (out + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)

    return typed(np.frompyfunc(one, count, 1), signature)


def signed24(x: int) -> int:
    return (x + 2**23) % 2**24 - 2**23


def of_integers() -> dict[str, Instruction]:
    table = {"abs": of_python(abs, "i->i"), "llabs": of_python(abs, "l->l")}
    for name, function in BITS.items():
        table[name] = of_python(of_bits(function)(32), "i->i")
        table[f"{name}ll"] = of_python(of_bits(function)(64), "l->l" if name == "brev" else "l->i")
    for pairs, signature in ((PAIRS, "ii->i"), (LONG_PAIRS, "ll->l")):
        for name, pair in pairs.items():
            table[name] = of_python(pair, signature)
            table[f"u{name}"] = of_python(pair, signature, unsigned=True)
    table["mul24"] = of_python(lambda x, y: signed24(x) * signed24(y), "ii->i")
    table["umul24"] = of_python(lambda x, y: x % 2**24 * (y % 2**24), "ii->i")
    for name, unsigned in (("sad", False), ("usad", True)):
        table[name] = of_python(lambda x, y, z: abs(x - y) + z, "iii->i", unsigned)
    table["byte_perm"] = of_python(permuted, "iii->i")
    return table


# -- The same bits in another type.


def from_halves(high: Any, low: Any) -> Any:
    return (high.astype("u4").astype("u8") << np.uint64(32) | low.astype("u4")).view("f8")


def of_representations() -> dict[str, Instruction]:
    return {
        "double_as_longlong": typed(lambda x: x.view("i8"), "d->l"),
        "longlong_as_double": typed(lambda x: x.view("f8"), "l->d"),
        "float_as_int": typed(lambda x: x.view("i4"), "f->i"),
        "int_as_float": typed(lambda x: x.view("f4"), "i->f"),
        "double2hiint": typed(lambda x: x.view("i8") >> 32, "d->i"),
        "double2loint": typed(lambda x: x.view("i8"), "d->i"),
        "hiloint2double": typed(from_halves, "ii->d"),
        "half2float": typed(lambda x: x.view("f2"), "h->f"),
        "float2half_rn": typed(lambda x: x.astype("f2").view("i2"), "f->h"),
    }


def library() -> dict[str, Instruction]:
    rounded = {name: typed(*found) for name, found in {**ROUNDED, **CONVERSIONS}.items()}
    return of_reals() | of_integers() | of_representations() | rounded


LIBDEVICE = library()
