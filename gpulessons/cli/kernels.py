"""`gpulessons asm`: what an op's CUDA kernels become for a real GPU, without one."""

from argparse import Namespace

from .terminal import Parser, find_op, known, say


def describe(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    parser.add_argument("op", metavar="OP")
    parser.add_argument("--version", metavar="NAME", nargs="+", help="only these versions")
    every = "print every instruction of the machine code"
    parser.add_argument("--sass", action="store_true", help=every)


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
            for compiled in assemblies(version):
                print(f"{version.name}: {compiled.headline}\n")
                beside = compiled.listing if options.sass else compiled.summary
                print(compiled.mix, beside, sep="\n\n", end="\n\n")
        except NotHere as why:  # of this compute capability
            print(f"{version.name}: {why}.")
        except CannotCompile as trouble:
            return say(trouble, 1)
    return 0
