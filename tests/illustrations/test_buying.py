"""What the pictures for a buyer say: every title follows from its figures, and would turn."""

from dataclasses import replace
from types import SimpleNamespace

from gpulessons.illustrations import buying
from gpulessons.money.chain import Stage
from gpulessons.money.devices import FACTORS, Device
from gpulessons.money.renting import HOURS
from gpulessons.money.works import Work

CHIP = Device("chip", {"float32": 1e13}, 1e11, 1e8, 10, 10, 1, 1, watts=0.1)


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


def test_an_owned_card_pays_from_a_share_of_the_time_or_never():
    hour = 1e6 / 3600  # a million tokens in it
    said = buying.bill(CHIP, hour, 2, years=1, price_per_kwh=0).alt
    assert said == ("chip, cheaper than by the second: owned for 1 years from 0.057% to 0.057%\n"
                    "of the time in use; always on from 50%. In use all the time a million "
                    "tokens cost 1.00 dollars always on, 2.00 by the second.")  # fmt: skip
    asked = replace(CHIP, price_most=100)
    assert buying.pays_from(asked, 2, 1, 0) == (10 / 2 / HOURS, 100 / 2 / HOURS)
    assert "in use, so never;" in buying.bill(replace(CHIP, price=1e6, price_most=1e6), 1, 1, 1).alt
