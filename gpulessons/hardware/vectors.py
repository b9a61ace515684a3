"""How wide Numba's vectors are: a CPU may have 512 bits of which LLVM uses half.

The first CPUs with AVX-512 lowered their clock for wide vectors, so LLVM prefers 256 bits on many
that came later, too. Whether the full width pays is measured here: a loop of multiply-adds at both
widths, in turns, once for a machine. Where it pays, NUMBA_CPU_NAME and NUMBA_CPU_FEATURES say so
before Numba compiles anything (`gpulessons/__init__.py` sees to it); processes that are started
from here inherit them. What the reader has set stays as it is.
"""

import ctypes
import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

from . import kept
from .budget import capped, note
from .system import proc_cpuinfo

CPU, FEATURES = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"
WIDE = "-prefer-256-bit"  # LLVM's name for it
SETTINGS = (CPU, FEATURES, "NUMBA_ENABLE_AVX")  # of the reader's: then nothing is chosen
CONFIG = ".numba_config.yaml"  # where Numba looks for settings, too
PAYS = 1.1  # the full width, from so many times as fast: it has longer remainders
METHOD = 1  # of measuring; with another, what was kept counts no longer
NUMBERS = 256  # in a row of the loop's, all in the first cache
LINE = 64  # bytes of a cache line
STEPS = 2**18  # numbers along the rows that a pass goes through: a fraction of a millisecond

ratios: list[float] = []  # what this process found, once it was asked


def choose(again: bool = False) -> None:
    """Have Numba use the width that pays, unless it has compiled or the reader has chosen."""
    if not has_512() or set_by_reader():
        return
    inherited = FEATURES in os.environ and not again
    if not ratios or again:
        ratios[:] = filter(None, [kept_ratio() if inherited else times_as_fast(again)])
    if has_compiled() or not ratios:
        return
    if ratios[0] >= PAYS:
        os.environ |= full_width()
    elif again:
        for name in full_width():
            os.environ.pop(name, None)
    if config := sys.modules.get("numba.core.config"):
        config.reload_config()


def has_compiled() -> bool:
    """Whether Numba has made its code generator: from then on its width stays."""
    target = getattr(sys.modules.get("numba.core.registry"), "cpu_target", None)
    return "_toplevel_target_context" in vars(target or object)


def is_wide() -> bool:
    """Whether Numba's loops get the full width: its code generator says so, or else will."""
    if not has_compiled():
        return FEATURES in os.environ
    from numba.core.registry import cpu_target

    return bool(cpu_target.target_context.codegen().magic_tuple()[2].endswith(WIDE))


def set_by_reader() -> bool:
    """Whether the environment, or Numba's file of settings, says something that is not ours."""
    said = {name: os.environ[name] for name in SETTINGS if name in os.environ}
    return Path(CONFIG).exists() or bool(said and said != full_width())


def in_words() -> str:
    """Which width Numba's loops have, and why; "" where there is no choice."""
    if not has_512():
        return ""
    if set_by_reader():
        return f"as {' and '.join(filter(os.environ.get, SETTINGS)) or CONFIG} says"
    found = f"a loop of multiply-adds ran {ratios[0]:.2f} times as fast" if ratios else ""
    pays = bool(ratios) and ratios[0] >= PAYS
    if is_wide() and found:
        why = "chosen because" if pays else "from before it was measured that"
        return f"512 bits, {why} {found} as with 256"
    if is_wide():
        return "512 bits, as inherited"
    if found and not pays:
        return f"as LLVM chooses: with 512 bits {found} as with 256"
    return "as LLVM chooses, since Numba compiled before it was told: import gpulessons earlier"


def has_512() -> bool:
    # A stand-in for LLVM, where there is none, says neither yes nor no.
    return bool(find_spec("llvmlite")) and host_features().get("avx512f") is True


def host_features() -> dict[str, bool]:
    """What LLVM finds this CPU to have; empty where it cannot tell."""
    import llvmlite.binding as llvm

    try:
        return llvm.get_host_cpu_features()
    except RuntimeError:
        return {}


def full_width() -> dict[str, str]:
    """The settings that make Numba's vectors as wide as the CPU's."""
    return settings(WIDE)


def settings(preference: str) -> dict[str, str]:
    """The settings that make Numba compile for this CPU, with a preference of LLVM's."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return {CPU: llvm.get_host_cpu_name(), FEATURES: f"{features},{preference}"}


def times_as_fast(again: bool = False) -> float:
    """How many times as fast 512 bits are as 256, as it was kept, or measured now and kept."""
    known = None if again else kept_ratio()
    if known:
        return known
    ratio = measured()
    if not note():  # under GPULESSONS_BUDGET it is rough
        kept.keep("vectors", measured_of(), ratio)
    return ratio


def kept_ratio() -> float | None:
    known = kept.find("vectors", measured_of())
    return float(known["found"]) if known else None


def measured_of() -> dict[str, Any]:
    import llvmlite

    cpu = proc_cpuinfo().get("model name")
    return {"cpu": cpu, **full_width(), "llvmlite": llvmlite.__version__, "method": METHOD}


def measured(seconds: float = 0.15) -> float:
    """Measure it: the fastest pass of each width, in turns, as a busy machine disturbs either."""
    room = ctypes.create_string_buffer(4 * 9 * NUMBERS + LINE)
    begin = ctypes.addressof(room) + -ctypes.addressof(room) % LINE  # no vector crosses a line
    passes: dict[int, list[float]] = {8: [], 16: []}
    loops = {lanes: compiled(lanes) for lanes in passes}
    end = perf_counter() + capped(seconds)
    while len(passes[16]) < 3 or perf_counter() < end:
        for lanes, loop in loops.items():
            start = perf_counter()
            loop(begin, STEPS // lanes)
            passes[lanes].append(perf_counter() - start)
    return min(passes[8]) / min(passes[16])


def compiled(lanes: int) -> Any:
    """The loop with so many float32 to a vector, as LLVM compiles it for this CPU.

    loop(address, steps): 9 rows of NUMBERS float32 lie there; a step goes on by a vector.
    """
    import llvmlite.binding as llvm

    with suppress(RuntimeError):  # since llvmlite 0.45 it has happened
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    host = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3
    )
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(str(multiply_adds(lanes))), host)
    engine.finalize_object()
    address = engine.get_function_address("loop")
    loop = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(address)
    loop.engine = engine  # type: ignore[attr-defined]  # the code lives as long as it
    return loop


def multiply_adds(lanes: int) -> Any:
    """A product's innermost loop as an LLVM module: four rows of results take in four rows of
    factors, 16 multiply-adds for 8 loads and 4 stores.

    Row 0 begins with the 16 numbers that wait in registers, 1 to 4 are factors, 5 to 8 results.
    """
    from llvmlite import ir

    f32, i64 = ir.FloatType(), ir.IntType(64)
    vector, module = ir.VectorType(f32, lanes), ir.Module()
    loop = ir.Function(module, ir.FunctionType(ir.VoidType(), [f32.as_pointer(), i64]), "loop")
    three = ir.FunctionType(vector, [vector] * 3)
    multiply_add = ir.Function(module, three, f"llvm.fma.v{lanes}f32")
    memory, steps = loop.args
    entry, body, done = (loop.append_basic_block(name) for name in ("entry", "body", "done"))
    build = ir.IRBuilder(entry)
    lane_0 = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    x = []
    for n in range(16):
        one = build.load(build.gep(memory, [ir.Constant(i64, n)]))
        first = build.insert_element(ir.Constant(vector, ir.Undefined), one, ir.IntType(32)(0))
        x.append(build.shuffle_vector(first, first, lane_0))
    build.branch(body)

    build.position_at_end(body)
    step = build.phi(i64)
    column = build.and_(build.mul(step, i64(lanes)), i64(NUMBERS - 1))

    def row(n: int) -> Any:
        at = build.gep(memory, [build.add(column, i64((n + 1) * NUMBERS))])
        return build.bitcast(at, vector.as_pointer())

    y = [build.load(row(k), align=4) for k in range(4)]
    for i in range(4):
        total = build.load(row(4 + i), align=4)
        for k in range(4):
            total = build.call(multiply_add, [x[4 * i + k], y[k], total])
        build.store(total, row(4 + i), align=4)
    following = build.add(step, i64(1))
    step.add_incoming(i64(0), entry)
    step.add_incoming(following, body)
    build.cbranch(build.icmp_signed("<", following, steps), body, done)
    ir.IRBuilder(done).ret_void()
    return module
