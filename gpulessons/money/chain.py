"""One network on one card, run in four ways: what bounds each, and what others measured.

Llama-2-7B on an A100: a token at a time, eager; the same compiled; 64 sequences served at once; a
prompt of 2,048 tokens at once. Where the published time is more than twice the three bounds
together, no number on a box explains it: the step waits for its framework, on the host.
"""

from dataclasses import dataclass
from functools import cache

from gpulessons.evidence import Published, published

from .devices import Device
from .works import EAGER, Work, generating, prefill

OVERHEAD = "overhead"


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
