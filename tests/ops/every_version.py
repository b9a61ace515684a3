"""One check for all versions of an op, those of a GPU thread by thread and for races."""

from gpulessons import check
from gpulessons.backends import gpu


def wrong_versions(op):
    """{name: why} of the versions that are wrong at a size of the op's edge cases, or race."""
    there = [v for v in op.versions.values() if v.backend is gpu or not v.backend.why_not()]
    verdicts = {version.name: check(op, version) for version in there}
    assert len(there) > 1
    return {name: str(verdict) for name, verdict in verdicts.items() if not verdict.passed}
