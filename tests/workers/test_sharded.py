"""Who keeps what, among 1 to 5 workers: the same steps, pieces kept, and bytes by closed forms."""

from functools import partial

import pytest
import torch

from gpulessons import launch
from gpulessons.illustrations import sharding
from gpulessons.models.decoder import LLAMA_3_8B, Shape
from gpulessons.workers.programs.sharded import WAYS
from gpulessons.workers.training import layers, network

WORLDS, STEPS, HIDDEN = [1, 2, 3, 4, 5], 3, 7
SIZES = [sum(p.numel() for p in layer.parameters())
         for layer in layers(network(HIDDEN, depth=3))]  # fmt: skip
WHOLE = sum(SIZES)


@pytest.fixture(scope="module")
def found():
    job = "gpulessons.workers.programs.sharded", {"steps": STEPS, "hidden": HIDDEN, "batch": 62}
    return launch("many_worlds", workers=5, worlds=WORLDS, jobs=[job])


@pytest.fixture(params=WORLDS)
def world(request, found):
    """(how many, {way: Kept} of each worker)"""
    return request.param, [worker[request.param][0] for worker in found[: request.param]]


def pieces(size, count):
    return [size // count + (number < size % count) for number in range(count)]


def scattered(size, rank, count, off=1):
    """All pieces but the one that is complete here; gathered: but the next one."""
    return size - pieces(size, count)[(rank + off) % count]


gathered = partial(scattered, off=2)


def test_every_way_learns_what_one_worker_learns(found, world):
    alone = found[0][1][0]["data parallel"].losses
    assert len(alone) == STEPS and len(set(alone)) == STEPS
    for worker in world[1]:
        for way in WAYS:
            assert worker[way].losses == pytest.approx(alone, rel=1e-6), way


def test_what_is_sent_is_its_closed_form(world):
    count, workers = world
    for rank, worker in enumerate(workers):
        flat = scattered(WHOLE, rank, count) + gathered(WHOLE, rank, count)
        two, three = (sum(scattered(n, rank, count) + turns * gathered(n, rank, count)
                          for n in SIZES) for turns in (1, 2))  # fmt: skip
        forms = zip(WAYS, (flat, flat, two, three), strict=False)
        for way, form in forms:
            assert worker[way].sent == STEPS * 8 * form, (way, rank)
        padded = worker["fully_shard"].sent / (STEPS * 8)  # each matrix has rows for all
        assert three <= padded <= 3 * (count - 1) * (WHOLE / count + 8 * HIDDEN * 64)


def test_a_worker_keeps_its_piece_of_what_the_stage_shards(world):
    count, workers = world
    for way, shared in zip(WAYS, ("", "m", "gm", "wgm", "wgm"), strict=True):
        for name, each, times in (("w", "weights", 8), ("g", "gradients", 8), ("m", "moments", 16)):
            kept = [getattr(worker[way], each) for worker in workers]
            assert sum(kept) == times * WHOLE * (1 if name in shared else count), (way, each)


def test_the_ledgers_activations_are_what_autograd_keeps_of_a_layer():
    shape, tokens, kept = Shape(1, 64, 8, 2, 160, 11), 5, {}
    ours = {name: torch.randn(size, dtype=torch.bfloat16, requires_grad=True)
            for name, size in shape.matrices.items()}  # fmt: skip
    known = {each.untyped_storage().data_ptr() for each in ours.values()}
    x = torch.randn(1, tokens, shape.width, dtype=torch.bfloat16, requires_grad=True)

    def keep(each):
        if each.untyped_storage().data_ptr() not in known and each.dtype == torch.bfloat16:
            kept[each.untyped_storage().data_ptr()] = each.untyped_storage().nbytes()
        return each

    functional = torch.nn.functional
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda each: each):
        normed = functional.rms_norm(x, x.shape[-1:])
        q, k, v = (functional.linear(normed, ours[name]).view(1, tokens, -1, 8).transpose(1, 2)
                   for name in "qkv")  # fmt: skip
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        y = x + functional.linear(seen.transpose(1, 2).reshape(x.shape), ours["o"])
        wide = functional.rms_norm(y, y.shape[-1:])
        inner = functional.silu(functional.linear(wide, ours["gate"]))
        z = y + functional.linear(inner * functional.linear(wide, ours["up"]), ours["down"])
    for each in (x, y):  # a GPU's normalization keeps what went in, a CPU's a float32 copy
        keep(each)
    assert z.shape == x.shape
    assert sum(kept.values()) == tokens * sharding.activations(shape, "kept")


def test_the_ledger_has_sixteen_bytes_a_weight_and_shards_them_stage_by_stage():
    count = LLAMA_3_8B.read + LLAMA_3_8B.words * LLAMA_3_8B.width
    assert count == pytest.approx(8.03e9, 1e-3)  # as the model is sold
    totals = [sum(sharding.ledger(LLAMA_3_8B, stage, 8, 0, "kept").values()) for stage in range(4)]
    assert totals[0] == 16 * count and totals[1] == pytest.approx((4 + 12 / 8) * count)
    words = LLAMA_3_8B.words * LLAMA_3_8B.width
    each = (LLAMA_3_8B.read - words) / LLAMA_3_8B.layers  # whole: two layers' weights, a gradient
    assert totals[2:] == pytest.approx([(2 + 14 / 8) * count + 2 * each, 2 * count + 6 * each])


def test_at_the_loss_logits_are_there_thrice_or_of_a_chunk_and_no_layers_inside():
    plain, chunked = (sharding.ledger(LLAMA_3_8B, 3, 8, 16_384, "recomputed", chunks)
                      for chunks in (1, 32))
    assert plain["logits"] == 3 * 4 * 16_384 * LLAMA_3_8B.words
    assert plain["activations"] == 16_384 * 2 * 32 * 4_096
    assert sum(chunked.values()) < sum(plain.values()) - 0.8 * plain["logits"]
