"""Rent or buy? Two lines over the hours of use, and where they cross.

    bought(h) = price + h × an hour's energy            rented(h) = h × rent
    break-even hours = price / (rent − energy of an hour)

The price is paid once and spread over the hours of use, so everything hangs on how many there are.
A rent includes its machine and its energy. Interest, taxes and one's own time are left out.
"""

import math


def energy(watts: float, price_per_kwh: float) -> float:
    """What an hour of so many watts costs."""
    return watts / 1000 * price_per_kwh


def break_even(price: float, rent: float, watts: float = 0, price_per_kwh: float = 0) -> float:
    """Hours of use from which buying is cheaper; ∞ where renting always is."""
    saved = rent - energy(watts, price_per_kwh)  # by each hour of use
    if price == 0 and saved >= 0:
        return 0.0
    return price / saved if saved > 0 else math.inf


def owned_hour(
    price: float, hours: float, watts: float = 0, price_per_kwh: float = 0
) -> float:
    """What one of so many hours of use costs the owner."""
    return price / hours + energy(watts, price_per_kwh)
