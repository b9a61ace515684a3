"""A picture of what hot loops are made of: what a kernel is there for, and all the rest."""

from collections.abc import Sequence
from typing import Any

from gpulessons.plots.axes import written
from gpulessons.plots.picture import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, Picture, blank

# What is counted together, its color, and the ink upon it.
KINDS = {
    "arithmetic": (("fp32", "fp64", "tensor", "sfu"), GREEN, "white"),
    "integer multiply-adds": (("imad",), PURPLE, "black"),
    "other integers, compares, moves": (("alu",), ORANGE, "black"),
    "loads and stores": (("load/store",), SKY, "black"),
    "the rest": (("uniform", "control", "other"), BLUE, "white"),
}


def mixes(named: Sequence[tuple[str, Any]]) -> Picture:
    """The instructions of each kernel's hot loop by kind, as shares: [(name, Mix), …].

    Where there is no loop it is the whole kernel. Beside each: what a multiply-add costs.
    """
    title = what_it_is_for(named)
    figure, axes = blank(width=8.4, height=1.75 + 0.5 * len(named), title=title)
    for y, (_, mix) in enumerate(named):
        start = 0.0
        for kind, share in shares(mix.main).items():
            _, color, ink = KINDS[kind]
            axes.barh(y, share, left=start, height=0.62, color=color, label="" if y else kind)
            if share > 0.045:
                axes.text(start + share / 2, y, f"{share:.0%}", ha="center", va="center",
                          fontsize=9.5, color=ink)  # fmt: skip
            start += share
        axes.text(1.02, y, beside(mix.main), va="center", color=INK, fontsize=9.5)
    axes.set_yticks(range(len(named)), [name for name, _ in named])
    axes.set(xlim=(0, 1), ylim=(len(named) - 0.5, -0.5))
    codes = " and ".join(sorted({"{}.{}".format(*mix.capability) for _, mix in named}))
    loops = "of the hot loop" if any(mix.hot for _, mix in named) else "of the kernel"
    axes.set_xlabel(f"share {loops}'s instructions, machine code for {codes}; counted")
    written(axes.xaxis, "{:.0%}".format)
    figure.legend(frameon=False, labelcolor=INK, fontsize=9.5, ncols=3, loc="outside lower center")
    spoken = "; ".join(
        f"{name}: {', '.join(f'{kind} {share:.0%}' for kind, share in shares(mix.main).items())}"
        f"{', ' if beside(mix.main) else ''}{beside(mix.main).replace(chr(10), ' ')}"
        for name, mix in named
    )
    return Picture(figure, f"{title} {spoken}.")


def shares(part: Any) -> dict[str, float]:
    """{kind: its share of all instructions}."""
    return {
        kind: sum(part.pipes.get(pipe, 0) for pipe in pipes) / part.instructions
        for kind, (pipes, *_) in KINDS.items()
    }


def beside(part: Any) -> str:
    """What each multiply-add brings along; empty where there is none."""
    if not part.multiply_adds:
        return ""
    integer, loads = (f"{count / part.multiply_adds:.3g}" for count in (part.integer, part.loads))
    return f"{integer} integer and {loads} loads\nto a multiply-add"


def what_it_is_for(named: Sequence[tuple[str, Any]]) -> str:
    """The title: what share of the instructions is what the kernels are there for."""
    multiply = all(mix.main.multiply_adds for _, mix in named)
    what = "multiply-adds" if multiply else "loads and stores"
    parts = {
        name: (mix.main.products if multiply else sum(mix.main.memory.values()))
        / mix.main.instructions
        for name, mix in named
    }
    least, most = min(parts, key=parts.__getitem__), max(parts, key=parts.__getitem__)
    if parts[least] == parts[most]:
        return f"Of these instructions {parts[most]:.0%} are {what}."
    span = f"{parts[least]:.0%} ({least}) to {parts[most]:.0%} ({most})"
    return f"Of the instructions {span} are {what}."
