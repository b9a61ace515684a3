"""A picture of what hot loops are made of: what a kernel is there for, and all the rest."""

from gpulessons.plots.forms import stacked
from gpulessons.plots.picture import BLUE, GREEN, ORANGE, PURPLE, SKY, Picture

# What is counted together, and its color.
KINDS = {
    "arithmetic": (("fp32", "fp64", "tensor", "sfu"), GREEN),
    "integer multiply-adds": (("imad",), PURPLE),
    "other integers, compares, moves": (("alu",), ORANGE),
    "loads and stores": (("load/store",), SKY),
    "the rest": (("uniform", "control", "other"), BLUE),
}


def mixes(named) -> Picture:
    """The instructions of each kernel's hot loop by kind, as shares: [(name, Mix), …].

    Where there is no loop it is the whole kernel. Beside each: what a multiply-add costs.
    """
    codes = " and ".join(sorted({"{}.{}".format(*mix.capability) for _, mix in named}))
    loops = "of the hot loop" if any(mix.hot for _, mix in named) else "of the kernel"
    return stacked(
        {name: shares(mix.main) for name, mix in named},
        {kind: color for kind, (_, color) in KINDS.items()}, "{:.0%}".format,
        title=what_it_is_for(named), beyond={name: beside(mix.main) for name, mix in named},
        what=f"share {loops}'s instructions, machine code for {codes}; counted",
    )


def shares(part) -> dict[str, float]:
    """{kind: its share of all instructions}."""
    return {kind: sum(part.pipes.get(pipe, 0) for pipe in pipes) / part.instructions
            for kind, (pipes, _) in KINDS.items()}


def beside(part) -> str:
    """What each multiply-add brings along; empty where there is none."""
    if not part.multiply_adds:
        return ""
    integer, loads = (f"{count / part.multiply_adds:.3g}" for count in (part.integer, part.loads))
    return f"{integer} integer and {loads} loads\nto a multiply-add"


def what_it_is_for(named) -> str:
    """The title: what share of the instructions is what the kernels are there for."""
    multiply = all(mix.main.multiply_adds for _, mix in named)
    parts = {name: (mix.main.products if multiply else sum(mix.main.memory.values()))
             / mix.main.instructions for name, mix in named}
    told = ", and ".join(f"{parts[name]:.0%} of the instructions of “{name}”" for name in
                         dict.fromkeys(choose(parts, key=parts.get) for choose in (max, min)))
    return f"{'Multiply-adds' if multiply else 'Loads and stores'} are {told}."
