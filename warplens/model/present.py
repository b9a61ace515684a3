"""Which GPU of `devices` the one in this machine is; where it is none of them, the nearest."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpulessons import hardware

from .devices import GPU, GPUS, Source, assumed
from .occupancy import LIMITS

DRIVER = Source("driver", "told by the driver of this machine")
NEAR = 0.05  # two memories of one name that differ by more than this are two memories


def here() -> GPU:
    """The GPU in this machine; an A100 where there is none, or none that times are modelled for."""
    card = hardware.gpu()
    try:
        return present(card, hardware.gpu_rates())[0] if card else GPUS["A100"]
    except ValueError:
        return GPUS["A100"]


def present(card: Mapping[str, Any], rates: Mapping[str, float]) -> tuple[GPU, str]:
    """The GPU to model times for, and a sentence that says what it was taken for.

    card: its name, compute_capability ("9.0"), multiprocessors and l2 (bytes), as the driver tells
    them; rates: its clock (Hz) and memory (B/s) at most, where the driver does. ValueError where
    nothing is known of its compute capability.
    """
    major, minor = map(int, card["compute_capability"].split("."))
    if (major, minor) not in LIMITS:
        there = ", ".join(f"{a}.{b}" for a, b in LIMITS)
        raise ValueError(
            f"{card['name']} has compute capability {major}.{minor}; times are modelled for {there}"
        )
    known = called(card["name"])
    if known and fits(known, card, rates):
        return known, f"{card['name']} is modelled as the {known.name}."
    known = known or nearest((major, minor), rates.get("memory"))
    told = figures(known, (major, minor), card, rates)
    grown = grown_with(known, told)
    own = known.but(str(card["name"]) + " (as its driver tells)", **told, **grown)
    guess = assumed(f"that of the {known.name}, grown with what the driver tells")
    sources = dict.fromkeys(told, DRIVER) | dict.fromkeys(grown, guess)
    own = replace(own, sources={**own.sources, **sources})
    words = ", ".join(f"{each} {own.told(each)}" for each in [*told, *grown])
    return own, f"{card['name']} is modelled as the {known.name}, but with {words}."


def called(name: str) -> GPU | None:
    """The GPU that a driver calls so: "Tesla T4", "NVIDIA A100-SXM4-40GB"; None for all others."""
    return next((gpu for gpu in GPUS.values() if re.search(rf"\b{gpu.name}\b", name)), None)


def fits(known: GPU, card: Mapping[str, Any], rates: Mapping[str, float]) -> bool:
    """Does the driver tell the same? A Ti, a part of a GPU, a larger memory share its name."""
    memory = rates.get("memory", known.dram_rate)
    return (
        card["multiprocessors"] == known.multiprocessors
        and abs(memory / known.dram_rate - 1) <= NEAR
    )


def nearest(capability: tuple[int, int], memory: float | None) -> GPU:
    """Of those whose multiprocessors hold as many warps, the nearest in capability, then memory."""

    def distance(gpu: GPU) -> tuple[bool, int, float]:
        other = LIMITS[gpu.capability].warps != LIMITS[capability].warps
        apart = abs(10 * (gpu.capability[0] - capability[0]) + gpu.capability[1] - capability[1])
        return other, apart, abs(math.log(gpu.dram_rate / (memory or gpu.dram_rate)))

    return min(GPUS.values(), key=distance)


def figures(
    known: GPU, capability: tuple[int, int], card: Mapping[str, Any], rates: Mapping[str, float]
) -> dict[str, Any]:
    """What the driver tells, by the names of a GPU's figures."""
    told: dict[str, Any] = {"multiprocessors": card["multiprocessors"]}
    if capability != known.capability:
        told["capability"] = capability
    if card.get("l2"):
        told["l2_bytes"] = card["l2"]
    if "memory" in rates:
        told["dram_rate"] = rates["memory"]
    if "clock" in rates:
        told["boost"] = rates["clock"]
    return told


def grown_with(known: GPU, told: Mapping[str, Any]) -> dict[str, float]:
    """What no driver tells and must be another: clocks grow with the highest clock, and the rate of
    L2 with clock and multiprocessors."""
    faster = told.get("boost", known.boost) / known.boost
    wider = faster * told["multiprocessors"] / known.multiprocessors
    grown = {"l2_rate": known.l2_rate * wider} if wider != 1 else {}
    if faster != 1:
        grown["base"] = known.base * faster
        if known.sustained:
            grown["sustained"] = known.sustained * faster
    return grown
