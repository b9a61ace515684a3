"""One network on one card, run in four ways: what bounds each, what others measured, and what an
hour of a dearer card is worth to it.

Llama-2-7B on an A100: a token at a time, eager; the same compiled; 64 sequences served at once; a
prompt of 2,048 tokens at once. Where the published time is more than twice the three bounds
together, no number on a box explains it: the step waits for its framework, on the host.
"""

from dataclasses import dataclass
from functools import cache

from gpulessons.evidence import Published, published

from .devices import Device, card
from .works import EAGER, Work, generating, prefill

OVERHEAD = "overhead"
UNDECIDED = "undecided"
TIE = 1.1  # nearer than that two costs are even: one seller's rents move by more


@dataclass(frozen=True)
class Stage:
    """A way to run it: its work, and what was published of it on one card."""

    name: str
    work: Work
    row: Published

    @property
    def seconds(self) -> float:
        """Of a step, published: of its tokens a second, or of itself."""
        return self.row.value if self.row.unit == "s" else self.work.tokens / self.row.value

    def limit(self, device: Device) -> str:
        """What it waits for on the card of the published time: a bound, or overhead."""
        bounds = self.work.parts(device, "16 bits")
        if self.seconds > 2 * sum(bounds.values()):
            return OVERHEAD
        return self.work.limit(device, "16 bits")

    def reached(self, device: Device) -> float:
        """The share of its longest bound in the published step: an MFU, or an MBU."""
        return self.work.seconds(device, "16 bits") / self.seconds

    def worth(self, cheap: Device, dear: Device) -> tuple[float, float]:
        """How many hours of one card an hour of another is worth: as many times as fast it is
        there. At most as the boxes promise of its bound; at least by the worst share of such a
        promise that a published pair kept. Overhead is the host's, and stays."""
        limit = self.limit(cheap)
        if limit == OVERHEAD:
            return 1.0, 1.0
        gain = self.work.seconds(cheap, "16 bits") / self.work.seconds(dear, "16 bits")
        kept = [each.gain / each.promised for each in pairs() if each.limit == limit]
        return gain * min(1, *kept), gain

    def verdict(self, cheap: Device, dear: Device, rents: tuple[float, float]) -> str:
        """The card on which a token costs less at both ends of the rents' ratio, by more than a
        tie; else UNDECIDED: a rent decides."""
        least, most = self.worth(cheap, dear)
        if least > TIE * rents[1]:
            return dear.name
        return cheap.name if TIE * most < rents[0] else UNDECIDED


@dataclass(frozen=True)
class Pair:
    """One program on two cards, published: what it waits for, and its tokens a second on each."""

    name: str
    limit: str
    slow: Published
    quick: Published

    @property
    def gain(self) -> float:
        """How many times as fast, published."""
        return self.quick.value / self.slow.value

    @property
    def promised(self) -> float:
        """The gain by the two boxes."""
        slow, quick = (card(row.device) for row in (self.slow, self.quick))
        if self.limit == "bytes/s":
            return quick.bandwidth / slow.bandwidth
        return quick.rates["16 bits"] / slow.rates["16 bits"]


@cache
def pairs() -> tuple[Pair, ...]:
    """Trained in bfloat16, from one card to the next, and served in FP8, of one chip."""
    rows = [row for row in published("training", source="llm_foundry") if row.unit == "/s"]
    slow, quick = ({(row.what, row.size): row for row in rows if row.device == each}
                   for each in ("A100 80 GB", "H100"))  # fmt: skip
    trained = (Pair(f"training {what.partition(':')[0]}, {row.sizes['sequence']:,} tokens long",
                    "FLOP/s", row, quick[what, size]) for (what, size), row in slow.items())
    eight = [published("decoding", what="tokens of Llama 3.1 8B", prompt=prompt, output=output)
             for prompt, output in ((2048, 128), (128, 4096))]  # fmt: skip
    (h200, h100), (late, early) = eight
    return (*trained, Pair("prompts of 2,048 tokens", "FLOP/s", h100, h200),
            Pair("answers of 4,096 tokens", "bytes/s", early, late))  # fmt: skip


@cache
def stages() -> tuple[Stage, ...]:
    what = "a token of Llama-2-7B"
    eager, compiled, many, prompt = (
        published("decoding", what=each)[0] for each in
        (f"{what}, an op at a time", f"{what}, compiled", "tokens of Llama-2-7B",
         "a prompt of Llama-2-7B: to its first token"))  # fmt: skip
    sequences, read = many.sizes["batch"], prompt.sizes["prompt"]
    before = many.sizes["prompt"] + many.sizes["output"] // 2  # tokens in its cache, on average
    return (  # one sequence: its weights alone, as its cache is short
        Stage("eager, 1 sequence", generating(1, 0, how=EAGER), eager),
        Stage("compiled, 1 sequence", generating(1, 0), compiled),
        Stage(f"serving, {sequences} sequences", generating(sequences, before), many),
        Stage(f"prefill, {read:,} tokens", prefill(read), prompt),
    )


def dearer(cheap: str, dear: str) -> tuple[float, float]:
    """How many times as much the rent of one card is, by one guide to many sellers: the less and
    the more of least by least, most by most."""
    ratios = []
    for end in ("least", "most"):
        (one,), (other,) = (published("rent", device=each, what=f"the {end} of many sellers")
                            for each in (cheap, dear))  # fmt: skip
        ratios.append(other.value / one.value)
    return min(ratios), max(ratios)
