"""judge(): put claims to the test, one after another; what was found before Ctrl-C stays."""

from collections.abc import Callable
from datetime import date
from typing import Any

from gpulessons.hardware import machine
from gpulessons.hardware.budget import note
from gpulessons.measure.recordings import version
from gpulessons.progress import progress_bar

from .claim import (
    A_GPU,
    CLAIMS,
    HOLDS,
    INTERRUPTED,
    LIMITS,
    Claim,
    Figure,
    Finding,
    Findings,
    Verdict,
    untested,
)
from .evidence import Given


def judge(
    *numbers: int, given: Given | None = None, told: Callable[[Finding], Any] | None = None,
) -> Findings:  # fmt: skip
    """Measure what decides these claims (all, unless named) on this machine. Returns Findings.

    given: what you have from elsewhere, recordings and devices with prices. told(finding): called
    as each is known. Raises ValueError for a number that is no claim's.
    """
    chosen = [known(number) for number in dict.fromkeys(numbers) or sorted(CLAIMS)]
    given = Given() if given is None else given
    here, notes, found = machine(), [words] if (words := note()) else [], []
    with progress_bar("claims") as progress:
        try:
            for done, each in enumerate(chosen):
                progress(done, len(chosen), f"{each.number}. {each.words[:50]}")
                found.append(find(each, given))
                if told:
                    told(found[-1])
            progress(len(chosen), len(chosen), "")  # a bar that ends before its end turns red
        except KeyboardInterrupt:
            notes.append(INTERRUPTED)
    today = date.today().isoformat()
    return Findings(tuple(found), here.name, today, version(), tuple(notes))


def known(number: Any) -> Claim:
    if number not in CLAIMS:
        raise ValueError(f"There is no claim {number}: they are {min(CLAIMS)} to {max(CLAIMS)}.")
    return CLAIMS[number]


def find(claim: Claim, given: Given) -> Finding:
    """The finding about one claim. A test that fails costs one verdict, not all of them."""
    try:
        figures = dict(claim.measure(given))
        verdict = decided(claim, figures)
    except Exception as trouble:
        figures, verdict = {}, untested(f"Its test failed: {type(trouble).__name__}: {trouble}")
    lacks = [*verdict.lacks, *(each.lacks for each in figures.values() if each.value is None)]
    named = tuple(dict.fromkeys(filter(None, lacks)))
    return Finding(
        claim.number, claim.words, claim.source, claim.notebooks, claim.test, verdict.word,
        verdict.why, tuple(figures.values()), claim.changes, named,
    )  # fmt: skip


def decided(claim: Claim, figures: dict[str, Figure]) -> Verdict:
    """The judge's verdict, where the figures that it needs are there and of the right kind."""
    missing = [figures[name] for name in sorted(claim.needed) if figures[name].value is None]
    if missing:
        reasons: dict[str, list[str]] = {}
        for figure in missing:
            reasons.setdefault(figure.why, []).append(figure.what)
        text = "; ".join(f"{why} ({', '.join(what)})" for why, what in reasons.items())
        return untested(f"{text[0].upper()}{text[1:]}.")
    verdict = claim.judge(**{name: figure.value for name, figure in figures.items()})
    if not claim.about_gpus or verdict.word not in (HOLDS, LIMITS):
        return verdict
    on_gpu = [figure for figure in figures.values() if figure.measured_on_gpu]
    if not on_gpu:
        return untested(
            f"{verdict.why} No figure is from a GPU, and this is a claim about GPUs.", A_GPU
        )
    wheres = dict.fromkeys(figure.where for figure in on_gpu if figure.kind == "recorded")
    by = f" Decided by a recording: {'; '.join(wheres)}." if wheres else ""
    return Verdict(verdict.word, f"{verdict.why}{by}")
