"""Rent or buy? Two lines over the hours of use, and where they cross.

    bought(h) = price + rest − resale + h × an hour's energy       until support ends
    rented(h) = h × rent

    break-even hours = (price + rest − resale) / (rent − energy of an hour)

The part that is paid once is spread over the hours of use, so everything hangs on how many there
are: a device that idles costs as much. Hours after the end of support are worth nothing here.

Every number is the learner's, in a currency of their own; none has a value unless they type it in.
A rent includes its energy. Interest, taxes and one's own time are left out.
"""

import math
from dataclasses import dataclass, fields

from gpulessons import units
from warplens.tables import as_html, as_text, sentence
from warplens.units import percent

HOURS_PER_WEEK = 168
HOURS_PER_YEAR = 365.25 * 24
JOULES_PER_KWH = 3.6e6

# What has to be known, and how to ask for it.
NEEDED = {
    "price": "what the device costs to buy",
    "rent_per_hour": "what an hour of a rented one costs",
    "watts": "what the bought one draws under load",
    "price_per_kwh": "what a kilowatt-hour costs you",
    "years": "how long it stays supported",
    "hours_per_week": "how many hours a week you compute",
}


@dataclass(frozen=True, repr=False)
class Plan:
    """A device to buy or to rent, in a currency of the learner's own."""

    price: float | None = None
    rent_per_hour: float | None = None
    watts: float | None = None  # of the bought one, under load
    price_per_kwh: float | None = None
    years: float | None = None  # until drivers and frameworks stop supporting it
    hours_per_week: float | None = None  # of use
    idle_watts: float = 0  # in all other hours; 0: switched off
    rest: float = 0  # what else has to be bought: the machine around it
    resale: float = 0  # share of the price that it sells for in the end, 0 to 1

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not 0 <= value < math.inf:  # so written that NaN is refused
                raise ValueError(f"{field.name} is a number from 0 on, not {value!r}.")
        for name, most in (("hours_per_week", HOURS_PER_WEEK), ("resale", 1)):
            if (getattr(self, name) or 0) > most:
                raise ValueError(f"{name} is at most {most}, not {getattr(self, name)!r}.")
        for name in ("years", "hours_per_week"):
            if getattr(self, name) == 0:
                raise ValueError(f"{name} is more than 0: nothing can be spread over no hours.")

    @property
    def missing(self):
        """The names of what is still to be typed in."""
        return [name for name in NEEDED if getattr(self, name) is None]

    # -- Hours.

    @property
    def utilization(self):
        """The share of all hours in which it computes."""
        return self.hours_per_week / HOURS_PER_WEEK

    @property
    def lifetime(self):
        """Hours from the purchase to the end of support."""
        return self.years * HOURS_PER_YEAR

    @property
    def useful_hours(self):
        """Hours of use until support ends."""
        return self.lifetime * self.utilization

    # -- Costs.

    @property
    def fixed(self):
        """What is paid once, less what comes back."""
        return self.price * (1 - self.resale) + self.rest

    @property
    def rent(self):
        """Of as much computing as the bought one does in an hour."""
        return self.rent_per_hour

    @property
    def energy_per_hour(self):
        """Of an hour of use, with its share of the hours in which it idles."""
        idle = 1 / self.utilization - 1
        return (self.watts + self.idle_watts * idle) / 1000 * self.price_per_kwh

    def bought(self, hours):
        """What so many hours of use cost who bought it."""
        return self.fixed + self.energy_per_hour * hours

    def rented(self, hours):
        return self.rent_per_hour * hours

    def energy_share(self, hours):
        """How much of what so many hours cost the owner is energy, 0 to 1."""
        whole = self.bought(hours)
        return self.energy_per_hour * hours / whole if whole else 0.0

    def per_useful_hour(self, utilization=None):
        """What an hour of use costs the owner over the whole life, used for this share of it."""
        used = self.utilization if utilization is None else utilization
        idle = (1 - used) * self.idle_watts / 1000 * self.price_per_kwh
        load = used * self.watts / 1000 * self.price_per_kwh
        return (self.fixed / self.lifetime + idle + load) / used

    # -- Where the two are even.

    @property
    def break_even(self):
        """Hours of use from which buying is cheaper; ∞ where renting always is."""
        if self.fixed == 0 and self.energy_per_hour <= self.rent_per_hour:
            return 0.0
        saved = self.rent_per_hour - self.energy_per_hour  # by each hour of use
        return self.fixed / saved if saved > 0 else math.inf

    @property
    def break_even_utilization(self):
        """The share of its life from which owning is cheaper; above 1 where nothing is enough."""
        standing = self.idle_watts / 1000 * self.price_per_kwh
        standing += self.fixed / self.lifetime
        saved = self.rent_per_hour - (self.watts - self.idle_watts) / 1000 * self.price_per_kwh
        return standing / saved if saved > 0 else math.inf

    @property
    def message(self):
        """Which is cheaper, and from when on: one sentence."""
        if self.missing:
            ask = "; ".join(f"{name}, {NEEDED[name]}" for name in self.missing)
            return f"Nothing to compare yet. Type in: {ask}."
        if math.isinf(self.break_even):
            more = f" From a utilization of {percent(self.break_even_utilization)} on, buying is."
            return (f"At {self.hours_per_week:g} hours a week renting is always cheaper: an hour "
                    f"costs {amount(self.rent_per_hour)} in your currency, an owned one "
                    f"{amount(self.energy_per_hour)} even when the device is paid."
                    + more * (self.break_even_utilization <= 1))  # fmt: skip
        if self.break_even == 0:
            return "Buying is cheaper from the first hour: nothing has to be earned back."
        hours = self.break_even
        even = f"break-even after {(units.count if hours >= 10 else amount)(hours)} hours of use"
        if self.break_even > self.useful_hours:
            return (f"At these numbers renting is cheaper: {even}, but support ends after "
                    f"{units.count(self.useful_hours)}.")  # fmt: skip
        years = hours / self.useful_hours * self.years
        when = f", {years:.1f} of {self.years:g} years" if years >= 0.1 else ""
        return f"At these numbers: {even}{when}. For fewer hours renting is cheaper."

    def rows(self):
        if self.missing:
            return []
        needed = self.break_even_utilization
        own = amount(self.per_useful_hour())
        energy = f"{percent(self.energy_share(self.useful_hours))} of it energy"
        return [
            ("owning, a useful hour", f"{own} in your currency, {energy}"),
            ("renting, a useful hour", amount(self.rent_per_hour)),
            ("hours of use until support ends", units.count(self.useful_hours)),
            ("utilization", percent(self.utilization)),
            ("break-even utilization", percent(needed) if needed <= 1 else "none is enough"),
        ]  # fmt: skip

    def __repr__(self):
        return as_text(self.message, self.rows())

    def _repr_html_(self):
        return as_html(self.message, self.rows()) if self.rows() else sentence(self.message)


@dataclass(frozen=True, repr=False)
class Energy:
    """What some seconds under load take from the socket, and what that costs."""

    seconds: float
    watts: float
    price_per_kwh: float | None = None

    @property
    def joules(self):
        return self.watts * self.seconds

    @property
    def kwh(self):
        return self.joules / JOULES_PER_KWH

    @property
    def cost(self):
        """None where no price is known."""
        return None if self.price_per_kwh is None else self.kwh * self.price_per_kwh

    def __repr__(self):
        cost = "" if self.cost is None else f", {amount(self.cost)} in your currency"
        power, joules = units.rate(self.watts, "W"), units.rate(self.joules, "J")
        kwh = f"{units.three_digits(self.kwh)} kWh"
        return f"{units.seconds(self.seconds)} at {power}: {joules}, {kwh}{cost}."

    def _repr_html_(self):
        return sentence(repr(self))


def amount(number):
    """Three digits, and no currency: that is the learner's."""
    return units.three_digits(number)
