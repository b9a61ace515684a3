"""The course's twenty-seven claims, each with the test that decides it.

    from gpulessons import claims
    claims.judge(1, 21)     # these two, measured now
    claims.judge()          # all of them: some three minutes

`claim.py` says what a claim, a figure and a verdict are, `evidence.py` where figures come from, and
`judging.py` puts the claims to the test. Then the claims themselves, by subject: machines,
pictures, layers, frameworks, trees, many_devices, money. Each file adds its own to CLAIMS, and a
claim is two functions. The first measures: its docstring is the test in words. The second judges,
and sees nothing but numbers, so that a test can hand it others and see the verdict turn.
"""

from . import frameworks, layers, machines, many_devices, money, pictures, trees  # noqa: F401
from .claim import CLAIMS, VERDICTS, Claim, Figure, Finding, Findings
from .evidence import Given
from .judging import judge
from .saved import load, recorded, save

__all__ = [
    "CLAIMS", "VERDICTS", "Claim", "Figure", "Finding", "Findings", "Given", "judge", "load",
    "recorded", "save",
]  # fmt: skip
