"""The roofline: what each op reaches under what this machine allows it.

S. Williams, A. Waterman and D. Patterson, "Roofline: An Insightful Visual Performance Model", 2009.
"""

from collections.abc import Callable, Iterable
from typing import Any

from gpulessons import units

from .axes import label_ends, log_axes
from .picture import COLORS, DASH_DOT, INK, MARKERS, Picture, blank


def best_of_all(op: str) -> str:
    """No kind of traffic: what an op is held against is the best that memory has shown."""
    return ""


def roofline(
    machine: Any, timings: Iterable[Any], *, title: str = "",
    traffic: Callable[[str], str] = best_of_all,
) -> Picture:
    """FLOP/s of ops against their FLOPs per byte, under the ceilings of the machine's card.

    The bandwidth roof is the best of read, copy and triad, the flat one the library's product.
    traffic: of an op's name "read", "copy" or "triad", what its loads and stores are like: it has
    that ceiling for a roof, where there is one. (A loop's stores cost a read, a memcpy's none.)
    timings: of one size or many; one that is too noisy to be quoted is left out, and named. Ops
    without arithmetic have no place on a log axis: they stand at its left end, as far below the
    roof as their bytes are. Raises ValueError where there is nothing to draw, or no ceiling.
    """
    timings = list(timings)
    noisy = [t.op for t in timings if t.noise == "too noisy"]
    timings = [t for t in timings if t.noise != "too noisy"]
    if not timings:
        raise ValueError("Give at least one timing that is not too noisy: compare(relu).timings.")
    under = [(t, roof(machine, t.backend, traffic(t.op))) for t in timings]
    roofs = [its_roof for _, its_roof in under]
    left_out = f" Left out, too noisy: {', '.join(noisy)}." if noisy else ""
    title = (title or under_the_slope(under)) + left_out
    left, right = ends(timings, roofs)
    figure, axes = blank(height=4.6, title=title)
    log_axes(axes, x=("FLOPs per byte (◂ none at all)", "{:g}".format),
             y=("FLOP/s", lambda rate: units.rate(rate, "FLOP/s")))
    axes.set_xlim(left, right)
    for place, kinds in roofs_by_place(machine, under, traffic).items():
        draw_roof(axes, place, kinds, left, right)
    labels = [draw_point(axes, timing, left) for timing in timings]
    lowest = min([y for _, y, *_ in labels] + [left * bandwidth for _, bandwidth in roofs])
    axes.set_ylim(lowest / 2, 3 * max(peak for peak, _ in roofs))
    label_ends(axes, labels)
    return Picture(figure, f"{title} {'; '.join(in_words(*each) for each in under)}.")


def roofs_by_place(machine, under, traffic):
    """{device: {kind of traffic: its roof}}; "" for the best, where a kind has no ceiling."""
    places: dict[str, dict[str, tuple[float, float]]] = {}
    for timing, its_roof in under:
        kind = traffic(timing.op)
        kind = kind if kind and machine.ceiling(timing.backend, kind) else ""
        places.setdefault(device(timing.backend), {})[kind] = its_roof
    return places


def draw_point(axes, timing, left):
    """A mark, and its label: (x, y, words, color). left: where what has no arithmetic stands, as
    far below the roof as its bytes are."""
    x = intensity(timing) or left
    done = timing.flops or left * timing.bytes
    marker, color = MARKERS[timing.backend] if timing.flops else "<", COLORS[timing.backend]
    elsewhere = {"markerfacecolor": "none"} if hasattr(timing, "kind") else {}
    axes.plot(x, done / timing.median, marker, color=color, markersize=6, clip_on=False,
              **elsewhere)
    if high := getattr(timing, "high", None):  # modelled
        axes.plot([x, x], [done / high, done / timing.low], color=color, linewidth=1,
                  linestyle=DASH_DOT)
    return x, done / timing.median, timing.op, color


def roof(machine: Any, backend: str, traffic: str = "") -> tuple[float, float]:
    """(FLOP/s, bytes/s): the ceilings of a backend; ValueError where one is unknown.

    traffic: "read", "copy" or "triad"; the best of what is known, unless told and known.
    """
    peak = machine.ceiling(backend, "float32")
    own = machine.ceiling(backend, traffic) if traffic else None
    bandwidth = own or machine.bandwidth(backend)
    if not (peak and bandwidth):
        raise ValueError(f"The card of {machine.name} has no ceilings for {backend}.")
    return peak, bandwidth


def intensity(timing: Any) -> float:
    """FLOPs for each byte that must move."""
    return timing.flops / timing.bytes


def is_bound_by_bytes(timing: Any, peak: float, bandwidth: float) -> bool:
    """Whether a point lies left of its roof's ridge point."""
    return intensity(timing) < peak / bandwidth


def under_the_slope(under):
    """How many points are left of the ridge point, how near the roof; under: [(timing, its roof)]

    To stand under the bandwidth roof is not to wait for memory: the share says how near that is.
    """
    slanted = [(t, *roof) for t, roof in under if is_bound_by_bytes(t, *roof)]
    corners = sorted({peak / bandwidth for _, (peak, bandwidth) in under})
    at = " to ".join(dict.fromkeys(map(two_digits, (corners[0], corners[-1]))))
    title = f"{len(slanted)} of {len(under)} points lie left of the ridge point, {at} FLOPs a byte"
    if not slanted:
        return f"{title}."
    low, *_, high = sorted([share(*each) for each in slanted] * 2)
    reached = f"{low:.0%}" if f"{low:.0%}" == f"{high:.0%}" else f"{low:.0%} to {high:.0%}"
    return f"{title}, at {reached} of {'its' if len(slanted) == 1 else 'their'} bandwidth roof."


def share(timing: Any, peak: float, bandwidth: float) -> float:
    """The part of its roof that a point reaches."""
    return max(timing.bandwidth / bandwidth, timing.flop_rate / peak)


def two_digits(number: float) -> str:
    """Two digits of a number, and no power of ten."""
    return f"{float(f'{number:.2g}'):,g}"


def ends(timings, roofs):
    """The axis: room for every op, for the ridge points of the roofs."""
    known = [intensity(t) for t in timings if t.flops]
    corners = [peak / bandwidth for peak, bandwidth in roofs]
    return min([0.1, *known]) / 2, 4 * max([*known, *corners])


def device(backend: str) -> str:
    return "GPU" if "gpu" in backend else "CPU"


def draw_roof(axes, name, roofs, left, right):
    """Left of the ridge point the bytes are the limit, right of it the arithmetic.

    roofs: {kind of traffic: (FLOP/s, bytes/s)}, with one slope for each and one name for all.
    """
    for peak, bandwidth in roofs.values():
        axes.plot([left, peak / bandwidth, right], [left * bandwidth, peak, peak], color=INK,
                  linewidth=1.5)
    peak, bandwidth = max(roofs.values())
    corner = peak / bandwidth
    axes.text(1.1 * corner, 1.06 * peak, f"{name}: {units.rate(peak, 'FLOP/s')}", color=INK,
              fontsize=10, va="bottom")
    near = 0.6 if len(roofs) == 1 else 0.8  # a line for each slope: there is room at the top
    middle = left ** (1 - near) * corner**near
    slopes = [f"{kind} {units.rate(rate, 'B/s')}".strip() for kind, (_, rate) in roofs.items()]
    text = f"{name}: {slopes[0]}" if len(slopes) == 1 else "\n".join([f"{name}:", *slopes])
    axes.annotate(text, (middle, middle * bandwidth), (-8, 4), textcoords="offset points",
                  color=INK, fontsize=10, ha="right", va="baseline")


def in_words(timing, roof):
    """One point, with the share of its roof that it reaches."""
    did = units.rate(timing.flop_rate, "FLOP/s") if timing.flops else "no arithmetic"
    who = f"{timing.op}, {getattr(timing, 'kind', '') or timing.version}"
    return (
        f"{who}: {two_digits(intensity(timing))} FLOPs a byte, {did}, "
        f"{share(timing, *roof):.0%} of its roof"
    )
