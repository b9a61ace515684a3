"""Claims of the second part: layers, what they are made of and what they wait for."""

from dataclasses import replace
from functools import partial

import numpy as np

from gpulessons.hardware import machine, threads
from gpulessons.measure.turns import alternate
from gpulessons.money.devices import best_rates
from gpulessons.ops.bias_activation import bias_gelu
from gpulessons.ops.conv2d import conv2d
from gpulessons.ops.dense import dense, sized
from gpulessons.ops.im2col import im2col
from gpulessons.ops.layer_norm import layer_norm
from gpulessons.ops.lstm_cell import parameters
from gpulessons.ops.lstm_sequence import lstm_sequence
from gpulessons.ops.matmul import matmul
from gpulessons.ops.softmax import softmax
from gpulessons.units import percent

from .claim import claim, holds, limits, refuted, untested, weakest
from .evidence import SECONDS, counted, from_gpu, gpu_over_cpu, live, missing, modelled, paired

# A dense layer: how much of its time is the product?

WIDE, NARROW, BATCH = 1024, 8, 256  # inputs, and examples


def layers_by_width(given):
    """A layer of the library's against the same layer with a single input, which has hardly any
    product: for one example and for a batch, with many inputs and with few.
    """
    shapes = {
        "one": (1, WIDE, WIDE), "one, no product": (1, 1, WIDE),
        "batch": (BATCH, WIDE, WIDE), "narrow": (BATCH, NARROW, WIDE),
        "batch, no product": (BATCH, 1, WIDE),
    }  # fmt: skip
    took = medians({name: layer(*shape) for name, shape in shapes.items()})
    whats = {
        "one": (f"the product's share of the time, {WIDE:,} inputs, one example", "one"),
        "batch": (f"the same, a batch of {BATCH}", "batch"),
        "narrow": (f"the same, {NARROW} inputs, a batch of {BATCH}", "batch"),
    }
    return {
        **{name: live(what, max(0.0, 1 - took[f"{base}, no product"] / took[name]), "%")
           for name, (what, base) in whats.items()},
        "alone": live("an example alone against one of the batch",
                      BATCH * took["one"] / took["batch"], "×"),
    }  # fmt: skip


def layer(examples, inputs, outputs):
    """A call of PyTorch's dense layer on random numbers."""
    version = dense.versions["PyTorch on CPU"]
    arrays = sized(inputs, outputs)(examples, np.random.default_rng(0))
    return version.bound(map(version.backend.put, arrays), version.empty(*arrays))


@claim(
    17, "A layer is a matrix–vector product plus an element-wise function, and the product governs "
    "its cost.", source="C", notebooks="06", measure=layers_by_width,
    changes="Inputs: with few of them the function and the call are the larger cost. And a slower "
    "exponential, or a faster product, moves the border up.",
)  # fmt: skip
def product_governs(one, batch, narrow, alone):
    found = (f"With {WIDE:,} inputs the product takes {percent(batch)} of a layer's time in a "
             f"batch of {BATCH}, and {percent(one)} for one example")  # fmt: skip
    if min(one, batch) < 0.5:
        return refuted(f"{found}: it is not what governs.")
    found += f". With {NARROW} inputs it takes {percent(narrow)} of the time"
    if narrow < 0.5:
        return limits(f"{found}: there the function and the call govern.")
    if alone > 2:
        return limits(f"{found}. An example alone takes {alone:.2g} times as long as one of the "
                      "batch: with a vector the product waits for its weights.")  # fmt: skip
    return holds(f"{found}.")


# A convolution: what waits for what in its sums?


def additions_in_rounds(given):
    """All products of a convolution of ResNet's at once, then added pair by pair in rounds, against
    its definition in float64.
    """
    problem = x, w, stride, padding = conv2d.inputs(14)
    columns = im2col(x, w.shape[2:], stride, padding)[0]
    terms = w.reshape(len(w), 1, -1) * columns.T  # (filters, positions, 576)
    count = terms.shape[-1]
    sums, rounds = in_pairs(terms)
    truth = conv2d.reference(*problem)
    error = conv2d.error(sums.reshape(truth.shape), truth)
    return {
        "terms": counted("products in each output's sum", count),
        "additions": counted("additions", sums.size * (count - 1)),
        "rounds": counted("rounds, one after the other", rounds),
        "wrong": live("error, over what rounding is allowed", error / conv2d.rtol),
    }


def in_pairs(terms):
    """Sums along the last axis as a tree: all pairs at once, then pairs of pairs. And its depth."""
    rounds = 0
    while (count := terms.shape[-1]) > 1:
        half = count // 2
        pairs, odd = terms[..., :half] + terms[..., half : 2 * half], terms[..., 2 * half :]
        terms, rounds = np.concatenate([pairs, odd], axis=-1), rounds + 1
    return terms[..., 0], rounds


@claim(
    18, "A convolution's additions can all be made at once.", source="C", notebooks="07",
    measure=additions_in_rounds,
    changes="Nothing on a machine: this is arithmetic. A sum of two products takes one round.",
)  # fmt: skip
def additions_at_once(terms, additions, rounds, wrong):
    if wrong > 1:
        return refuted("Added pair by pair, the sums come out wrong: the order matters.")
    found = f"Some {additions / 1e6:.2g} million additions take {rounds:.0f} rounds in turn"
    if rounds >= terms - 1:
        return refuted(f"{found}: they are a chain.")
    if rounds <= 1:
        return holds("All additions are made in one round.")
    return limits(f"{found}, and no output waits for another: nearly at once.")


# An LSTM: products that gain, in steps that wait.

STEPS, EXAMPLES, UNITS = 32, 32, 128
RUNGS = ("Numba, every core", "PyTorch, nn.LSTM, CPU", "CUDA, one kernel a step",
         "PyTorch, nn.LSTM, GPU")  # fmt: skip


def lstm_gains(given):
    """An LSTM on the CPU: its eight products a step merged and batched, 32 sequences against one,
    twice the steps, and the same operations in a chain and in one wide step. On a GPU: its best
    version against the CPU's best.
    """
    plain, merged = "NumPy, eight products a step", "NumPy, input products batched"
    calls = {
        "eight": sequence(plain, STEPS, EXAMPLES), "merged": sequence(merged, STEPS, EXAMPLES),
        "longer": sequence(merged, 2 * STEPS, EXAMPLES), "single": sequence(merged, STEPS, 1),
        "wide": sequence(merged, 1, STEPS),
    }  # fmt: skip
    pairs = {
        "merged": ("eight products a step over merged and batched ones", "eight", "merged"),
        "batch": (f"{EXAMPLES} sequences over one", "merged", "single"),
        "longer": ("twice the steps", "longer", "merged"),
        "chain": (f"{STEPS} steps of one sequence over one step of {STEPS}, the same operations",
                  "single", "wide"),
    }  # fmt: skip
    return {
        **{name: paired(f"{what}, time", {way: calls[way] for way in ways})
           for name, (what, *ways) in pairs.items()},
        "gpu_wide": lstm_on_both(given, 256),
        "gpu_narrow": lstm_on_both(given, 16),
    }  # fmt: skip


def lstm_on_both(given, size):
    """The CPU's best time over the GPU's, as the caller waits, at so many units."""
    read = partial(gpu_over_cpu, size=size, wait=True)
    what = f"an LSTM of {size} units, the best on a CPU over the best on a GPU, time"
    return from_gpu(given, what, lstm_sequence, read, size=size, versions=RUNGS)


def sequence(version, steps, examples):
    """A call of an LSTM over so many steps of so many examples."""
    rng = np.random.default_rng(0)
    shapes = (steps, examples, UNITS), (examples, UNITS), (examples, UNITS)
    arrays = [rng.standard_normal(shape, np.float32) for shape in shapes]
    return partial(
        lstm_sequence.versions[version].function, *arrays, *parameters(UNITS, UNITS, rng)
    )


@claim(
    19, "An LSTM cell is several such products, so it gains too (but its steps wait for each "
    "other).", source="C", notebooks="08", measure=lstm_gains,
    changes="Width and batch: narrow steps are launches and little else. And steps that need not "
    "wait: attention reads all words at once.", about_gpus=True,
)  # fmt: skip
def lstm_gains_too(merged, batch, longer, chain, gpu_wide=None, gpu_narrow=None):
    waits = (f"The same operations take {chain:.2g} times as long in {STEPS} steps as in one wide "
             f"step, and twice the steps {longer:.2g} times as long")  # fmt: skip
    lost = chain >= 1.2 and longer >= 1.2
    on_cpu = (f"On the CPU {EXAMPLES} sequences take {batch:.2g} times as long as one, and eight "
              f"products a step {merged:.2g} times as long as merged ones")  # fmt: skip
    return weakest(
        it_gains_too=gain_of_lstm(on_cpu, gpu_wide, gpu_narrow),
        steps_wait=holds(f"{waits}.") if lost
        else refuted(f"{waits}: nothing is lost by waiting."),
    )  # fmt: skip


def gain_of_lstm(on_cpu, gpu_wide, gpu_narrow):
    if gpu_wide is None:
        return untested(f"{on_cpu}. No GPU was timed.")
    found = f"With 256 units a CPU takes {gpu_wide:.2g} times as long as a GPU"
    if gpu_wide <= 1:
        return refuted(f"{found}: there is no gain.")
    if gpu_narrow is not None and gpu_narrow <= 1:
        return limits(f"{found}, with 16 units {gpu_narrow:.2g} times: there the launches take the "
                      "gain away.")  # fmt: skip
    return holds(f"{found}.")


# Products: what is expensive in them, and how much of BERT they are.

TOKENS, HIDDEN, HEADS, INNER = 128, 768, 12, 3072  # a layer of BERT-base, one text


def fetching_and_bert(given):
    """The same multiplications on one core, in vectors: along rows, and in blocks that use again
    what they have loaded. A layer of BERT-base in NumPy on one core: the products' share of its
    operations and of its time, each part timed by itself.
    """
    ways = "Numba, one core, ikj", "Numba, blocked, one core"
    parts = parts_of_encoder()
    flops = {name: times * op.flops(*arrays) for name, (times, op, arrays) in parts.items()}
    with threads(1):
        took = medians({name: partial(op.versions["NumPy"].function, *arrays)
                        for name, (_, op, arrays) in parts.items()})  # fmt: skip
    spent = {name: times * took[name] for name, (times, *_) in parts.items()}
    products = [name for name, (_, op, _) in parts.items() if op is matmul]
    return {
        "fetching": paired("a product of 1,024 rows, along rows over in blocks, time",
                           {way: product(way, 1024) for way in ways}, 2 * SECONDS),
        "once": once_over(1024),
        "operations": counted("products' share of a BERT layer's operations",
                              sum(map(flops.get, products)) / sum(flops.values()), "%"),
        "time": live("their share of its time",
                     sum(map(spent.get, products)) / sum(spent.values()), "%"),
    }  # fmt: skip


def product(version, size):
    x, y = matmul.inputs(size)
    return partial(matmul.versions[version], x, y, out=np.empty_like(x))


def once_over(rows):
    """Seconds to move a product's three matrices once, over seconds to multiply, both at this
    machine's ceilings: above 1 it waits for the matrices, however they are used."""
    what = f"moving {rows:,} rows once, over multiplying them, at this machine's best"
    rate, bandwidth = best_rates(machine(), "host")
    if not (rate and bandwidth):
        return missing(what, "this machine's ceilings could not be measured")
    arrays = matmul.inputs(rows)
    seconds = matmul.bytes(*arrays) / bandwidth, matmul.flops(*arrays) / rate
    return modelled(what, seconds[0] / seconds[1], "%")


def parts_of_encoder():
    """{part: (how often, op, its inputs)} of a layer of BERT-base, one text."""
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape, np.float32)

    head = HIDDEN // HEADS
    ones, zeros = np.ones(HIDDEN, np.float32), np.zeros(HIDDEN, np.float32)
    return {
        "queries, keys, values, outputs": (4, matmul, (normal(TOKENS, HIDDEN),
                                                       normal(HIDDEN, HIDDEN))),
        "scores": (HEADS, matmul, (normal(TOKENS, head), normal(head, TOKENS))),
        "mixed values": (HEADS, matmul, (normal(TOKENS, TOKENS), normal(TOKENS, head))),
        "up": (1, matmul, (normal(TOKENS, HIDDEN), normal(HIDDEN, INNER))),
        "down": (1, matmul, (normal(TOKENS, INNER), normal(INNER, HIDDEN))),
        "softmax": (1, softmax, (normal(HEADS * TOKENS, TOKENS),)),
        "bias + GELU": (1, bias_gelu, (normal(TOKENS, INNER), normal(INNER))),
        "layer norm": (2, layer_norm, (normal(TOKENS, HIDDEN), ones, zeros)),
    }  # fmt: skip


def medians(calls):
    """{name: seconds} of calls that are timed in turn."""
    return {name: spread.median for name, spread in alternate(calls, SECONDS)}


@claim(
    24, "The dearest part of a matrix product is fetching its elements; a TPU is a matrix machine; "
    "about 90 % of BERT is products.", source="E", notebooks="05 09", measure=fetching_and_bert,
    changes="Code that reuses what it has fetched: then arithmetic is what a large product waits "
    "for. And a machine that multiplies faster: less of BERT's time is then products.",
)  # fmt: skip
def fetching_is_dearest(fetching, once, operations, time):
    verdict = weakest(
        fetching_is_the_dearest_part=price_of_fetching(fetching, once),
        BERT_is_products=share_of_products(operations, time),
    )
    return replace(verdict, why=f"{verdict.why} A TPU is a matrix machine by how it is built "
                   "(65,536 multipliers in one unit, Jouppi et al. 2017): not judged by this test."
                   )  # fmt: skip


def price_of_fetching(fetching, once):
    found = ("In blocks, which load less and also store and loop less, a core is "
             f"{fetching:.2g} times as fast as along rows")  # fmt: skip
    if fetching < 1.2:
        return refuted(f"{found}: fetching is not what it waits for.")
    if once >= 1:
        return holds(f"{found}. Even if it moved each number once, it would wait for them.")
    return limits(f"{found}. But to move all numbers once would take {percent(once)} of the time "
                  "that multiplying them takes, by a model: then it waits for arithmetic."
                  )  # fmt: skip


def share_of_products(operations, time):
    found = f"By count products are {percent(operations)} of a BERT layer, by time {percent(time)}"
    if min(operations, time) < 0.5:
        return refuted(f"{found}.")
    return holds(f"{found}.") if min(operations, time) > 0.7 else limits(f"{found}.")
