"""The claims of the course's sources, split into statements, each with one word.

    from gpulessons import claims
    claims.found("1b", cached=gain)   # on a page: hand over what was measured, and see the word
    claims.judged()                   # all of them, by what the pages found and by the evidence

`judge.py` says what a statement is and how it is judged; statements.toml holds the
statements; `known.py` counts and cites; `kept.py` keeps what the pages measured;
`findings.py` says the word, and who found it.
"""

from .findings import Finding, Findings
from .judge import WORDS, Claim, Figure, Statement, claims, statement, statements, word
from .kept import found, measured
from .known import evidence

__all__ = [
    "WORDS", "Claim", "Figure", "Finding", "Findings", "Statement", "claims", "evidence", "found",
    "judged", "measured", "statement", "statements", "word",
]  # fmt: skip


def judged(*numbers: int) -> Findings:
    """The findings about the statements of these claims (all, unless named), but definitions.

    ValueError for a number that is no claim's.
    """
    if unknown := sorted(set(numbers) - set(claims())):
        raise ValueError(f"There is no claim {unknown[0]}: they are {min(claims())} to "
                         f"{max(claims())}.")  # fmt: skip
    chosen = [each for each in statements().values()
              if (not numbers or each.claim in numbers) and not each.by_definition]  # fmt: skip
    return Findings(tuple(Finding.of(each, measured(each)) for each in chosen))
