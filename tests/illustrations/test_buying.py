"""What the pictures for a buyer say: every title follows from its figures, and would turn."""

from dataclasses import replace
from types import SimpleNamespace

from gpulessons.illustrations import buying
from gpulessons.money.chain import Stage
from gpulessons.money.devices import FACTORS, Device
from gpulessons.money.works import Work

BOX = Device("box", {"float32": 1e13, "TF32": 1e14}, 1e12, 1e9, 100, 100, 2, 4, watts=0.1)
CHIP = Device("chip", {"float32": 1e13}, 1e11, 1e8, 10, 10, 1, 1, watts=0.1)


def work(name, intensity, held=1e6):
    return Work(name, intensity * 1e9, dict.fromkeys(FACTORS, 1e9), dict.fromkeys(FACTORS, held))


def test_two_boxes_are_compared_with_their_rents():
    dear = replace(BOX, name="dear", rates={"float32": 3e13, "16 bits": 4e14})
    cheap = replace(BOX, rates={"float32": 1e13, "16 bits": 1e14})
    said = buying.ratios(dear, cheap, (2, 3.5)).alt
    assert said.startswith("The rent of the dear is 2.00 to 3.50 times that of the box. "
                           "More than that it has of FLOP/s in 16 bits. ")  # fmt: skip
    assert "FLOP/s in float32: 3 ×; bytes/s: 1 ×" in said
    assert "it has of nothing." in buying.ratios(dear, cheap, (2, 4.5)).alt


def row(value):
    return SimpleNamespace(value=value, unit="s")


# On A the first waits 1 s for bytes, and overhead made it 10; the second 5 s for its FLOP/s.
A = Device("A", {"16 bits": 1e9}, 1e9)
B = Device("B", {"16 bits": 4e9}, 2e9)
STAGES = (Stage("slow", work("slow", 0.1), row(10)), Stage("large", work("large", 5), row(7)))


def test_a_published_step_stands_beside_its_bounds():
    said = buying.chain(STAGES, A).alt
    assert said.startswith("slow: 10.0 times its longest bound on the A. ")
    assert "slow: 1 s at least, 10 s: overhead; large: 5 s at least, 7 s: FLOP/s, MFU 71%." in said


def test_an_hour_is_worth_what_the_step_gains_and_a_rent_decides_near_it():
    said = buying.worth(STAGES, A, B, (1.2, 1.3)).alt
    assert said.startswith("The rent of the B is 1.20 to 1.30 times that of the A: decided "
                           "in 2 of 2 ways. slow: A; large: 2.28 to 4.00 ×: B.")  # fmt: skip
    for rents, word in (((1.9, 2.05), "B"), ((1.9, 2.1), "undecided"), ((4.3, 5), "undecided"),
                        ((4.5, 5), "A")):  # fmt: skip
        assert buying.worth(STAGES, A, B, rents).alt.endswith(f" to 4.00 ×: {word}.")
    assert "in 1 of 2 ways. slow: undecided;" in buying.worth(STAGES, A, B, (1.05, 2)).alt


def test_the_cheapest_is_named_for_each_work_and_why_others_cost_nothing_known():
    product, large = work("product", 1e3), work("large", 1e3, 5e8)
    works = {"product": product, "large": lambda device, factors: large}
    picture = buying.prices(works, [BOX, CHIP, Device("bare")], "float32")
    best = "Which is cheapest? {}."
    assert picture.alt.startswith(best.format("product: chip; large: box"))
    assert "product: box: 55.6 to 111; chip: 27.8 to 27.8" in picture.alt
    told = [text.get_text() for axes in picture.figure.axes for text in axes.texts]
    assert told == ["has no float32", "does not fit", "has no float32"]
    one = {"product": product}
    both = "undecided among 2 cards"
    for low, high, word in ((1, 9, both), (9, 9, "box"), (4, 9, both)):
        said = buying.prices(one, [BOX, replace(CHIP, rent=low, rent_most=high)], "float32").alt
        assert said.startswith(best.format(f"product: {word}"))
    free = [replace(BOX, rent=0, rent_most=0), replace(CHIP, rent=None)]
    free = buying.prices(one, free, "float32")
    assert free.alt.startswith(best.format("product: box"))
    assert [text.get_text() for text in free.axes.texts] == ["costs nothing", "has no rent"]
    none = buying.prices(one, [CHIP], "TF32").alt
    assert "No card that fits has both TF32 and a rent" in none


def test_a_card_pays_from_a_share_of_the_time_or_never():
    title = buying.renting([CHIP], years=1, price_per_kwh=0).alt
    assert title == ("In use for 1 years, buying pays: chip from 0.11% of the time to 0.11%.")
    wide = replace(CHIP, price_most=1e6)
    assert "chip from 0.11% of the time at best, or never." in buying.renting([wide], 1).alt
    asked = replace(CHIP, rent_most=2)
    assert "chip from 0.057% of the time to 0.11%." in buying.renting([asked], 1).alt
    dear = replace(wide, name="dear", price=1e6)
    assert "dear never." in buying.renting([CHIP, dear], 1).alt
    assert buying.renting([replace(CHIP, watts=2000)], price_per_kwh=1).alt.count("never") == 1
