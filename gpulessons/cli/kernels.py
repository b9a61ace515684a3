"""`gpulessons asm`: what an op's CUDA kernels become for a real GPU, without one."""

from argparse import Namespace

from .terminal import find_op, known, say


def asm(options: Namespace) -> int:
    """compile an op's CUDA kernels (no GPU needed): registers, spills, shared memory, PTX"""
    op = find_op(options.op)
    from gpulessons.backends import gpu  # NumPy and more: not before the names are right
    from gpulessons.machine_code.cuda import CannotCompile, assemblies

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
                if options.ptx:
                    print(compiled.ptx)
        except CannotCompile as trouble:
            return say(trouble, 1)
    return 0
