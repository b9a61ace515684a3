"""After how many hours of use is buying cheaper than renting? Sometimes never."""

from gpulessons.exercises.asking import a_function

text = '''\
def my_break_even(price, rent_per_hour, watts, price_per_kwh):
    """Hours of use from which buying is cheaper than renting, not rounded; None if there are none.

    The owner pays the price once, and the energy of every hour; a rent includes its energy.
    """
    ### BEGIN SOLUTION
    energy = watts / 1000 * price_per_kwh
    if energy >= rent_per_hour:
        return None
    return price / (rent_per_hour - energy)
    ### STUB
    return price / rent_per_hour  # Your turn: what does an hour of owning cost?
    ### END SOLUTION
'''

# A price, the rent of an hour, watts, the price of a kWh: numbers that stand for no device. Then
# equal costs of an hour, and an owner who pays more; a price of 0 is paid back at once.
CASES = (
    (1000, 3, 500, 2), (900, 2, 250, 4), (70, 5, 1000, 0.25), (500, 2, 300, 0), (431, 7, 700, 3),
    (1000, 1, 500, 2), (1000, 1, 500, 4), (0, 3, 500, 2),
)  # fmt: skip

mistakes = (
    ("That forgets the energy, which the owner pays in every hour.",
     "watts / 1000 * price_per_kwh", "0"),
    ("That adds the energy to the rent, which includes it: an hour saves less than the rent.",
     "rent_per_hour - energy", "rent_per_hour + energy"),
    ("That is rounded: an hour can be used in part.",
     "price / (rent_per_hour - energy)", "round(price / (rent_per_hour - energy))"),
)  # fmt: skip

exercise = a_function(
    __name__, text, CASES,
    "price + hours × energy = hours × rent, solved for the hours. None where there are none.",
    "A price of 1000, a rent of 3 an hour, 500 W at 2 a kWh: {0:g} hours.", mistakes,
)
