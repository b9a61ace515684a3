"""What the picture for a buyer says: its title follows from its figures, and would turn."""

from types import SimpleNamespace

from gpulessons.illustrations import buying
from gpulessons.money.chain import Stage
from gpulessons.money.devices import FACTORS, Device
from gpulessons.money.works import Work


def work(name, intensity, held=1e6):
    return Work(name, intensity * 1e9, dict.fromkeys(FACTORS, 1e9), dict.fromkeys(FACTORS, held))


def row(value):
    return SimpleNamespace(value=value, unit="s")


# On A the first waits 1 s for bytes, and overhead made it 10; the second 5 s for its FLOP/s.
A = Device("A", {"16 bits": 1e9}, 1e9)
STAGES = (Stage("slow", work("slow", 0.1), row(10)), Stage("large", work("large", 5), row(7)))


def test_a_published_step_stands_beside_its_bounds():
    said = buying.chain(STAGES, A).alt
    assert said.startswith("slow: 10.0 times its longest bound on the A. ")
    assert "slow: 1 s at least, 10 s: overhead; large: 5 s at least, 7 s: FLOP/s, MFU 71%." in said
