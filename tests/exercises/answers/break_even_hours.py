"""Answers to `break_even_hours`: its solution with one edit each."""

wrong = [
    ("(rent_per_hour - energy)", "rent_per_hour", "forgets the energy"),
    ("watts / 1000 * price_per_kwh", "0", "forgets the energy"),
    ("watts / 1000 * price_per_kwh", "watts * price_per_kwh", "the answer was None"),
    ("watts / 1000 * price_per_kwh\n    if energy >= rent_per_hour:\n        return None",
     "watts * price_per_kwh", "a watt for a kilowatt"),
    ("rent_per_hour - energy", "rent_per_hour + energy", "adds the energy to the rent"),
    ("price / (rent_per_hour - energy)", "(price + energy) / rent_per_hour", "of one hour only"),
    ("rent_per_hour - energy", "energy - rent_per_hour", "look at the sign"),
    ("price / (rent_per_hour - energy)", "round(price / (rent_per_hour - energy))", "is rounded"),
    ("price / (rent_per_hour - energy)", "-(-price // (rent_per_hour - energy))", "is rounded"),
    ("    if energy >= rent_per_hour:\n        return None\n", "", "yours divides by zero"),
    ("energy >= rent_per_hour", "energy > rent_per_hour", "yours divides by zero"),
    ("energy >= rent_per_hour", "energy == rent_per_hour", "always cheaper, and the answer was -"),
    ("return None", "return 0", "always cheaper, and the answer was 0"),
    ("return price / (rent_per_hour - energy)", "pass", "buying pays, and the answer was None"),
    ("price / (rent_per_hour - energy)", "str(price)", "not a number of hours"),
    ("price / (rent_per_hour - energy)", "500.0", "it was 500, where"),
    ("price / (rent_per_hour - energy)", "round(price / (rent_per_hour - energy), 4)",
     "is due."),
    ("    return price / (rent_per_hour - energy)",
     "    return price / (rent_per_hour - energy) if price else None", "from the first hour, 0"),
]  # fmt: skip
right = [
    ("return None", 'return float("inf")'),
    ("price / (rent_per_hour - energy)", "1000 * price / (1000 * rent_per_hour - watts * "
     "price_per_kwh)"),
    ("price / (rent_per_hour - energy)", "np.float64(price) / (rent_per_hour - energy)"),
    ("price / (rent_per_hour - energy)", "np.float32(price) / np.float32(rent_per_hour - energy)"),
    ("    if energy >= rent_per_hour:\n        return None\n    return price / "
     "(rent_per_hour - energy)",
     "    saved = rent_per_hour - energy\n    return price / saved if saved > 0 else None"),
]  # fmt: skip
