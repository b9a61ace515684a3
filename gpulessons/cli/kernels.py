"""`gpulessons asm`: what an op's CUDA kernels become for a real GPU, without one."""

from argparse import Namespace
from typing import TYPE_CHECKING

from .terminal import find_op, known, say

if TYPE_CHECKING:
    from warplens.code.cuda import Assembly


def asm(options: Namespace) -> int:
    """compile an op's CUDA kernels (no GPU needed): registers, machine code beside the source"""
    op = find_op(options.op)
    from gpulessons.backends import NotHere, gpu  # NumPy and more: not before the names are right
    from gpulessons.measure.modelled import assemblies
    from warplens.code.cuda import CannotCompile

    for name in options.version or ():
        known(name, op.versions, f"{op.name} has no version")
    chosen = [op.versions[name] for name in options.version or op.versions]
    launched = [version for version in chosen if version.backend is gpu]
    if not launched:
        return say(f"None of these versions of {op.name} is a CUDA one.", 1)
    for version in launched:
        try:
            for compiled in assemblies(version, capability=options.capability):
                print(f"{version.name}: {compiled.headline}")
                print(machine_code(compiled, options.sass))
                if options.ptx:
                    print(compiled.ptx)
        except NotHere as why:  # of this compute capability
            print(f"{version.name}: {why}.")
        except CannotCompile as trouble:
            return say(trouble, 1)
    return 0


def machine_code(compiled: "Assembly", everything: bool) -> str:
    """A kernel's instruction mix and its source with the machine code; or why they are not here."""
    from warplens.code.cuda import CannotCompile

    try:
        beside = compiled.listing if everything else compiled.summary
        return f"\n{compiled.mix}\n\n{beside}\n"
    except CannotCompile as trouble:
        return str(trouble)
