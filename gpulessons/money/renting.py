"""Rent or buy? An owned hour is the dearer the fewer there are; a rented one costs what it costs.

    an owned hour of use = price / hours of use + energy of an hour
    break-even: the share of its life from which that is less than the rent

A rent includes a machine around the card and its energy. Interest, taxes, and one's own time are
left out.
"""

import math

HOURS = 365.25 * 24  # of a year


def energy(watts: float, price_per_kwh: float) -> float:
    """What an hour of so many watts costs."""
    return watts / 1000 * price_per_kwh


def break_even(price: float, rent: float, years: float, energy_of_one: float = 0) -> float:
    """The share of so many years from which buying is cheaper; above 1 where it never is."""
    saved = rent - energy_of_one  # by each hour of use
    return price / saved / (years * HOURS) if saved > 0 else math.inf
