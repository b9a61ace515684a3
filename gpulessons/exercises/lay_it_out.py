"""Lay Llama 3 405B out on 16,384 GPUs: what fits into them, and keeps them at work?"""

from gpulessons.evidence import published
from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, NotTried
from gpulessons.workers import LINKS, ring_of
from warplens.model.devices import sheet

text = '''\
# Llama 3 405B on 16,384 H100s of 80 GB: it must fit, and reach 70 % of the peak (modelled).
# GPUs on a layer, stages, copies: powers of two, at most 128 stages and 2,048 copies.
### BEGIN SOLUTION
my_layout = 8, 16, 128  # 64 GPUs have no room for a copy; of 128, eight on a layer wait least
### STUB
my_layout = ..., ..., ...  # their product is 16,384
### END SOLUTION
'''


def budget(tp, pp, dp, recompute=False):
    """({what: bytes on a GPU}, {what: seconds of a step}), modelled, each at least.

    tp GPUs share a layer, pp follow each other, dp copies share 2,048 sequences of 8,192 tokens.
    """
    sizes = published("layout")[0].sizes  # Llama's
    own, d, layers = sizes["parameters"] / tp / pp, sizes["width"], sizes["layers"]
    queue, thin = 2_048 // dp, 128 // pp  # a copy's sequences; a GPU's stages, of a layer each
    begun = min(queue, pp + (pp - 1) / thin)  # sequences under way, by 1F1B interleaved
    again = 0 if recompute else 2 * d + sizes["inner"]  # what norms and SwiGLU give
    kept = 4 * d + 2 * sizes["keys"] + 2 * sizes["inner"] + again  # a token's numbers in a layer
    held = {"weights": 2 * own, "gradients": 4 * own * (1 / thin + 1 / dp), "Adam": 12 * own / dp,
            "activations": 2 * kept * 8_192 * begun * layers / tp / pp}  # fmt: skip
    work = 6 * own * queue * 8_192 / sheet("H100").peaks["bfloat16"]
    ring = ring_of(tp, LINKS["NVLink 4, H100"], LINKS["InfiniBand NDR, 400 Gbit/s"])
    sums = 4 * layers / pp * queue * ring.seconds("ring", tp, 2 * 8_192 * d)
    return held, {"arithmetic": work, "sums": sums,
                  "bubble": (work + sums) * (pp - 1) / (thin * queue)}  # fmt: skip


def judge(answer):
    full = isinstance(answer, tuple | list) and len(answer) == 3
    if full and ... in answer:
        raise NotTried("The answer is still to come: three numbers.", "128 × 128 is 16,384.")
    tp, pp, dp = answer if full and all(n in range(1, 16_385) for n in answer) else (0, 0, 0)
    if tp * pp * dp != 16_384 or pp > 128 or dp > 2_048:
        raise Mismatch(f"{answer!r} is no layout of 16,384 GPUs.", "the comment: which there are.")
    held, step = budget(tp, pp, dp)
    room, share = sum(held.values()) / 1e9, step["arithmetic"] / sum(step.values())
    gb = f"{room:.1f} GB: " + ", ".join(f"{name} {size / 1e9:.1f}" for name, size in held.items())
    told = f"{share:.0%} of the peak: " + ", ".join(f"{what} {s:.2f} s" for what, s in step.items())
    if room > 80 or share < 0.7:
        trouble = f"A GPU of 80 GB has no room for {gb}" if room > 80 else f"It fits; but {told}"
        raise Mismatch(f"{trouble}.", "the largest of these, and which of the three divides it.")
    return f"{gb}. {told}."


exercise = Exercise(__name__, text, judge=judge)
