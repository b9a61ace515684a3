"""A picture for a buyer: one network run in four ways."""

from gpulessons import units
from gpulessons.plots.axes import beside, log_axes, name_rows
from gpulessons.plots.forms import key, listed, percent
from gpulessons.plots.picture import BLUE, GREEN, INK, VERMILLION, Picture, blank

BOUNDS = {"FLOP/s": {"color": BLUE, "marker": "s"}, "bytes/s": {"color": GREEN, "marker": "o"},
          "launches": {"color": VERMILLION, "marker": "^"}}  # fmt: skip
TAKEN = {"color": INK, "marker": "D", "markersize": 8, "linestyle": "none"}
OPEN = {"markerfacecolor": "none", "linestyle": "none", "markersize": 8}


def chain(stages, device) -> Picture:
    """A row for each stage: the seconds of its three bounds on a card, and of a published step."""
    works = [stage.work.parts(device, "16 bits") for stage in stages]
    over = f"{stages[0].seconds / max(works[0].values()):.1f} times its longest bound"
    title = f"{stages[0].name}: {over} on the {device.name}."
    figure, axes = blank(8.4, 1.9 + 0.45 * len(stages), title)
    spoken = {}
    for y, (stage, parts) in enumerate(zip(stages, works, strict=True)):
        draw_bounds(axes, y, parts, stage.seconds)
        told = f"{units.seconds(stage.seconds)}: {waited(stage, device)}"
        beside(axes, told, stage.seconds, y)
        spoken[stage.name] = f"{units.seconds(max(parts.values()))} at least, {told}"
    name_rows(axes, spoken)
    axes.set_xlim(min(min(parts.values()) for parts in works) / 2,
                  14 * max(stage.seconds for stage in stages))  # fmt: skip
    log_axes(axes, x=("a step", units.seconds))
    key(figure, {f"its {bound}, at least": {**look, **OPEN} for bound, look in BOUNDS.items()}
        | {"published": TAKEN})
    return Picture(figure, f"{title} Modelled, then published. {listed(spoken)}.")


def draw_bounds(axes, y, parts, taken):
    axes.hlines(y, min(parts.values()), taken, color=INK, linewidth=0.6)
    for bound, seconds in parts.items():
        large = {"markersize": 12, "markeredgewidth": 2.6} if bound == max(
            parts, key=parts.get) else {}  # fmt: skip
        axes.plot(seconds, y, **{**BOUNDS[bound], **OPEN, **large})
    axes.plot(taken, y, **TAKEN)


def waited(stage, device):
    """ "overhead", or "bytes/s, MBU 68%"."""
    limit = stage.limit(device)
    share = {"FLOP/s": "MFU", "bytes/s": "MBU"}.get(limit)
    return f"{limit}, {share} {percent(stage.reached(device))}" if share else limit
