"""alternate(): the name under which pages know `hardware.timer.interleaved`."""

from gpulessons.hardware.timer import Spread
from gpulessons.hardware.timer import interleaved as alternate

__all__ = ["Spread", "alternate"]
